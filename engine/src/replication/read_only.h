// read_only and super_read_only as they were SET; in a cluster the role decides instead.
#pragma once

#include <atomic>

namespace commitd::replication {

struct ReadOnlyWish {
  std::atomic<bool> read_only{false};        // only who has SUPER or CONNECTION_ADMIN writes
  std::atomic<bool> super_read_only{false};  // nobody does; read_only is on as well
};

}  // namespace commitd::replication

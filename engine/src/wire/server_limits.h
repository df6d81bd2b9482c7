// Limits that SET GLOBAL changes while the server runs; read and written by any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace commitd::wire {

struct ServerLimits {
  std::atomic<uint32_t> max_connections{10000};
  std::atomic<uint32_t> max_user_connections{0};  // 0 = no limit
  std::atomic<uint32_t> connect_timeout{10};      // seconds a login may take
  std::atomic<bool> require_secure_transport{false};
};

}  // namespace commitd::wire

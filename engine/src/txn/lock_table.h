// All locks, partitioned by hash of the key: finding a lock's queue and guarding it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/node_hash_map.h>

#include "txn/lock_queue.h"

namespace commitd::txn {

class LockTable {
 public:
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };
  struct Partition {
    std::mutex mutex;
    absl::node_hash_map<std::string, LockQueue, KeyHash, std::equal_to<>> queues;
  };

  explicit LockTable(size_t partitions) : partitions_(partitions) {}

  Partition& partition(std::string_view key) { return partitions_[KeyHash{}(key) % partitions_.size()]; }

 private:
  std::vector<Partition> partitions_;
};

}  // namespace commitd::txn

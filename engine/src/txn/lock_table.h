// All locks, partitioned by hash of the key: finding a lock's queue and guarding it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/node_hash_map.h>

#include "observe/mutex.h"
#include "txn/lock_queue.h"

namespace commitd::txn {

struct LockKeyHash {
  using is_transparent = void;
  size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
};

struct LockTablePartition {
  static const observe::WaitEvent& waits() {
    static const observe::WaitEvent event("wait/synch/mutex/commitd/lock_partition");
    return event;
  }
  observe::Mutex mutex{waits()};
  absl::node_hash_map<std::string, LockQueue, LockKeyHash, std::equal_to<>> queues;
};

class LockTable {
 public:
  using Partition = LockTablePartition;

  explicit LockTable(size_t partitions) : partitions_(partitions) {}

  std::vector<Partition>& partitions() { return partitions_; }
  Partition& partition(std::string_view key) { return partitions_[LockKeyHash{}(key) % partitions_.size()]; }

 private:
  std::vector<Partition> partitions_;
};

}  // namespace commitd::txn

// Early lock release: the rows of local transactions that have their place in the log's order and are not in
// the storage engine yet. Their locks are gone; who locks such a row next finds its newest version here, and
// what depends on it is answered when the engine has it. The engine never sees any of this.
//
// A transaction stands in here from before its locks go until the engine has it, or until it is lost: its
// group could not be written, or its role ended. Whoever has seen something that was lost must not go on.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <absl/container/btree_map.h>
#include <absl/container/inlined_vector.h>

#include "base/result.h"
#include "observe/mutex.h"
#include "runtime/parker.h"
#include "runtime/task.h"
#include "storage/write_set.h"

namespace commitd::binlog {

// What a transaction has seen here: nothing beyond `order`, and first when nothing later than `generation`
// was lost.
struct SeenOrder {
  uint64_t order = 0;  // 0: nothing
  uint64_t generation = 0;
};

// A committing transaction; lives in its coroutine.
struct OrderedTransaction {
  const WriteSet* writes = nullptr;  // not changed while it stands in here; null: it does not
  std::atomic<uint64_t> order{0};    // by place in the commit queue, and so in the log
};

// For who has seen something that was lost: its transaction must be rolled back.
Error seen_was_lost();
// For who began beside transactions whose outcome nobody knew.
Error stands_on_older_data();

class OrderedWrites {
 public:
  OrderedWrites();
  ~OrderedWrites();

  // --- the commit path ---
  // While the transaction still has its locks, so that nobody depends on it yet.
  void add(OrderedTransaction& transaction, const WriteSet& writes);
  // The caller holds the queue's mutex: orders are the queue's.
  void give_order(OrderedTransaction& transaction) { transaction.order = ++last_order_; }
  // False when it did not stand in here.
  bool remove(OrderedTransaction& transaction);
  // The engine has these; in log order.
  void applied(std::span<OrderedTransaction* const> transactions);
  // After remove() of everything that will never be applied.
  void lost();
  // False when something of it may have been lost.
  bool holds(const SeenOrder& seen) const;

  // --- transactions in the log whose sessions were told that the outcome is not known ---
  // Their locks are gone, and their writes are nowhere to be found before the engine has them. So who began
  // before or beside that may stand on data that is older than the log, and must not commit.
  uint64_t ground() const { return ground_.load(std::memory_order_acquire); }
  bool is_firm(uint64_t ground) const { return ground % 2 == 0 && ground == this->ground(); }
  // Before their locks go. The caller holds the pipeline's mutex, here and below.
  void outcome_is_unknown() { ground_ += is_firm(ground_) ? 1 : 2; }
  void outcomes_are_known() { ground_ += is_firm(ground_) ? 0 : 1; }

  // --- transactions that lock the key ---
  bool empty() const { return versions_.load(std::memory_order_acquire) == 0; }
  // Whether the newest version is a value or a deletion; nullopt: it is the engine's.
  std::optional<bool> find(std::string_view key, std::string& value, SeenOrder& seen) const;
  // Order 0: the engine has the newest version.
  SeenOrder newest(std::string_view key) const;
  // Newest versions of the keys in [lower, upper); an empty `upper` is no bound. For scans, which read each
  // row again when they have locked it. To be called before the engine's iterator is made.
  WriteSet::Map collect(const std::string& lower, const std::string& upper) const;

  // --- replies ---
  // The engine has all of it.
  bool is_applied(const SeenOrder& seen) const;
  enum class Outcome : uint8_t { Applied, Lost, TimedOut, Killed };
  // `killed` (may be null): once it is set, wake_killed() ends the wait.
  Task<Outcome> wait(SeenOrder seen, Deadline deadline, const std::atomic<bool>* killed = nullptr);
  void wake_killed();

 private:
  struct Version {
    const OrderedTransaction* of;
    const WriteSet::Entry* entry;
  };
  using Versions = absl::InlinedVector<Version, 1>;  // oldest first
  struct Shard {
    mutable observe::Mutex mutex{"wait/synch/mutex/commitd/ordered_writes"};
    absl::btree_map<std::string, Versions, std::less<>> keys ABSL_GUARDED_BY(mutex);
  };
  struct Wait;
  static constexpr size_t kShards = 16;
  Shard& shard_of(std::string_view key) const;
  template <class Condition>
  void wake_if(Condition ends) ABSL_EXCLUSIVE_LOCKS_REQUIRED(waits_mutex_);
  void wake_settled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(waits_mutex_);

  const std::unique_ptr<std::array<Shard, kShards>> shards_;
  std::atomic<size_t> versions_{0};
  uint64_t last_order_ = 0;  // under the queue's mutex
  std::atomic<uint64_t> applied_{0}, generation_{1};
  std::atomic<uint64_t> ground_{0};  // odd: there are such transactions

  observe::Mutex waits_mutex_{"wait/synch/mutex/commitd/ordered_writes_waits"};
  std::list<Wait*> waits_ ABSL_GUARDED_BY(waits_mutex_);
};

}  // namespace commitd::binlog

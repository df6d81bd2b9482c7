#include "commit/ordered_writes.h"

#include <algorithm>

#include "base/error_codes.h"
#include "commit/commit_wakeup.h"
#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

observe::Counter& early_counter() {
  static auto& counter = observe::counter("commitd_early_lock_releases_total",
                                          "Transactions that gave up their row locks before their sync.");
  return counter;
}

observe::Counter& seen_counter() {
  static auto& counter = observe::counter("commitd_unacknowledged_versions_seen_total",
                                          "Versions that locking reads took before they were acknowledged.");
  return counter;
}

}  // namespace

Error seen_was_lost() {
  return make_error(er::kLockDeadlock,
                    "The transaction was rolled back: it had seen changes of a transaction that could not be "
                    "committed; try restarting transaction");
}

Error stands_on_older_data() {
  return make_error(
      er::kRollbackDuringCommit,
      "The transaction was rolled back: it began beside others whose outcome was not known then; "
      "try restarting transaction");
}

// Under waits_mutex_ but for its owner's park().
struct OrderedWrites::Wait {
  SeenOrder seen;
  const std::atomic<bool>* killed = nullptr;
  Parker parker;
  bool listed = true;
  bool is_killed() const { return killed != nullptr && killed->load(std::memory_order_relaxed); }
};

OrderedWrites::OrderedWrites() : shards_(std::make_unique<std::array<Shard, kShards>>()) {
  early_counter();
  seen_counter();
}
OrderedWrites::~OrderedWrites() = default;

OrderedWrites::Shard& OrderedWrites::shard_of(std::string_view key) const {
  return (*shards_)[std::hash<std::string_view>()(key) % kShards];
}

void OrderedWrites::add(OrderedTransaction& transaction, const WriteSet& writes) {
  transaction.writes = &writes;
  for (const auto& [key, entry] : writes.entries()) {
    Shard& shard = shard_of(key);
    MutexLock lock(shard.mutex);
    shard.keys[key].push_back({&transaction, &entry});
  }
  versions_.fetch_add(writes.entries().size(), std::memory_order_release);
  early_counter().add();
}

bool OrderedWrites::remove(OrderedTransaction& transaction) {
  if (transaction.writes == nullptr) return false;
  for (const auto& [key, entry] : transaction.writes->entries()) {
    Shard& shard = shard_of(key);
    MutexLock lock(shard.mutex);
    const auto at = shard.keys.find(key);
    Versions& versions = at->second;
    if (versions.size() == 1) {
      shard.keys.erase(at);
    } else {
      versions.erase(std::find_if(versions.begin(), versions.end(), [&transaction](const Version& version) {
        return version.of == &transaction;
      }));
    }
  }
  versions_.fetch_sub(transaction.writes->entries().size(), std::memory_order_release);
  transaction.writes = nullptr;
  return true;
}

void OrderedWrites::applied(std::span<OrderedTransaction* const> transactions) {
  uint64_t order = 0;
  for (OrderedTransaction* transaction : transactions) {
    if (remove(*transaction)) order = std::max(order, transaction->order.load());
  }
  if (order == 0) return;
  MutexLock lock(waits_mutex_);
  applied_.store(order);
  wake_settled();
}

void OrderedWrites::lost() {
  MutexLock lock(waits_mutex_);
  generation_.fetch_add(1);
  wake_settled();
}

bool OrderedWrites::holds(const SeenOrder& seen) const {
  return seen.order == 0 || seen.generation == generation_.load();
}

std::optional<bool> OrderedWrites::find(std::string_view key, std::string& value, SeenOrder& seen) const {
  if (empty()) return std::nullopt;
  // Before the look: a loss in between then counts as one of what was seen.
  const uint64_t generation = generation_.load();
  const Shard& shard = shard_of(key);
  MutexLock lock(shard.mutex);
  const auto at = shard.keys.find(key);
  if (at == shard.keys.end()) return std::nullopt;
  const Version& newest = at->second.back();
  if (seen.order == 0) seen.generation = generation;
  seen.order = std::max(seen.order, newest.of->order.load());
  seen_counter().add();
  if (newest.entry->value) value = *newest.entry->value;
  return newest.entry->value.has_value();
}

SeenOrder OrderedWrites::newest(std::string_view key) const {
  if (empty()) return {};
  const uint64_t generation = generation_.load();
  const Shard& shard = shard_of(key);
  MutexLock lock(shard.mutex);
  const auto at = shard.keys.find(key);
  return at == shard.keys.end() ? SeenOrder{} : SeenOrder{at->second.back().of->order, generation};
}

WriteSet::Map OrderedWrites::collect(const std::string& lower, const std::string& upper) const {
  WriteSet::Map found;
  if (empty()) return found;
  for (const Shard& shard : *shards_) {
    MutexLock lock(shard.mutex);
    for (auto at = shard.keys.lower_bound(lower);
         at != shard.keys.end() && (upper.empty() || at->first < upper); ++at)
      found.emplace(at->first, *at->second.back().entry);
  }
  return found;
}

// The generation last: while it stands, what has been applied since were the orders that were seen.
bool OrderedWrites::is_applied(const SeenOrder& seen) const {
  return seen.order == 0 || (applied_.load() >= seen.order && generation_.load() == seen.generation);
}

Task<OrderedWrites::Outcome> OrderedWrites::wait(SeenOrder seen, Deadline deadline,
                                                 const std::atomic<bool>* killed) {
  Wait wait;
  wait.seen = seen;
  wait.killed = killed;
  {
    MutexLock lock(waits_mutex_);
    if (is_applied(seen)) co_return Outcome::Applied;
    if (!holds(seen)) co_return Outcome::Lost;
    if (wait.is_killed()) co_return Outcome::Killed;
    waits_.push_back(&wait);
  }
  static const observe::WaitEvent event("wait/synch/cond/commitd/unacknowledged_version");
  const observe::WaitTimer timer(event);
  co_await wait.parker.park(deadline);
  MutexLock lock(waits_mutex_);
  if (wait.listed) waits_.remove(&wait);
  if (is_applied(seen)) co_return Outcome::Applied;
  if (!holds(seen)) co_return Outcome::Lost;
  co_return wait.is_killed() ? Outcome::Killed : Outcome::TimedOut;
}

template <class Condition>
void OrderedWrites::wake_if(Condition ends) {
  for (auto at = waits_.begin(); at != waits_.end();) {
    Wait& wait = **at;
    if (!ends(wait)) {
      ++at;
      continue;
    }
    at = waits_.erase(at);
    wait.listed = false;
    count_wakeup();
    wait.parker.wake();
  }
}

void OrderedWrites::wake_settled() {
  wake_if([this](const Wait& wait) { return is_applied(wait.seen) || !holds(wait.seen); });
}

void OrderedWrites::wake_killed() {
  MutexLock lock(waits_mutex_);
  wake_if([](const Wait& wait) { return wait.is_killed(); });
}

}  // namespace commitd::binlog

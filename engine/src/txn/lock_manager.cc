// Order of mutexes: the graph's, then one partition's. Only waits touch the graph; a lock that is free costs
// one partition mutex.
#include "txn/lock_manager.h"

#include <mutex>

#include <absl/container/flat_hash_map.h>

#include "base/error_codes.h"
#include "txn/deadlock_policy.h"
#include "txn/lock_metrics.h"
#include "txn/lock_owner.h"
#include "txn/lock_queue.h"
#include "txn/lock_table.h"

namespace commitd::txn {

namespace {

Error timeout_error() {
  return make_error(er::kLockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction");
}
Error deadlock_error() {
  return make_error(er::kLockDeadlock, "Deadlock found when trying to get lock; try restarting transaction");
}
Error killed_error() {
  return make_error(er::kQueryInterrupted, "Query execution was interrupted");
}
Error full_error() {
  return make_error(er::kLockTableFull, "The total number of locks exceeds the lock table size");
}

}  // namespace

LockOwner::LockOwner() = default;
LockOwner::~LockOwner() = default;

class LockManager::Impl final : public WaitGraph {
 public:
  explicit Impl(const Options& options)
      : table_(options.partitions),
        max_locks_(options.max_locks),
        policy_(options.detect_deadlocks ? incremental_deadlock_detection() : no_deadlock_detection()) {}

  class Attempt;

  bool full() const { return locks_.load(std::memory_order_relaxed) >= max_locks_; }

  static bool holds(const LockOwner& owner, std::string_view key, LockMode mode) {
    const auto held = owner.held_.find(key);
    return held != owner.held_.end() &&
           (held->second->mode == LockMode::Exclusive || mode == LockMode::Shared);
  }

  bool try_lock(LockOwner& owner, std::string_view key, LockMode mode) {
    if (full()) return false;
    auto request = make_request(owner, key, mode);
    auto& partition = table_.partition(key);
    {
      std::lock_guard lock(partition.mutex);
      const auto queue = partition.queues.find(key);
      if (queue != partition.queues.end() && !queue->second.could_grant(*request)) return false;
      enqueue(partition, key, *request);
    }
    keep(owner, std::move(request));
    return true;
  }

  void release(LockOwner& owner, std::string_view key) {
    const auto held = owner.held_.find(key);
    if (held == owner.held_.end()) return;
    const std::unique_ptr<LockRequest> request = std::move(held->second);
    owner.held_.erase(held);
    take_back(*request);
    locks_.fetch_sub(1, std::memory_order_relaxed);
  }

  void release_all(LockOwner& owner) {
    auto held = std::move(owner.held_);
    owner.held_.clear();
    for (auto& [key, request] : held) take_back(*request);
    locks_.fetch_sub(held.size(), std::memory_order_relaxed);
  }

  void kill_wait(LockOwner& owner) {
    std::lock_guard graph(graph_mutex_);
    owner.killed_.store(true, std::memory_order_relaxed);
    const auto wait = waiting_.find(&owner);
    if (wait == waiting_.end()) return;
    LockRequest& request = *wait->second;
    std::lock_guard lock(table_.partition(request.key).mutex);
    if (request.granted) return;
    request.killed.store(true, std::memory_order_relaxed);
    request.parker->wake();
  }

  // Called by the policy, under the graph's mutex: whoever is in waiting_ cannot leave meanwhile.
  void holders_waited_for(const LockOwner* waiter, std::vector<const LockOwner*>& holders) const override {
    const auto wait = waiting_.find(waiter);
    if (wait == waiting_.end()) return;
    const LockRequest& request = *wait->second;
    std::lock_guard lock(table_.partition(request.key).mutex);
    if (request.granted) return;
    for (const LockRequest* holder : request.queue->holders()) {
      if (holder->owner != waiter) holders.push_back(holder->owner);
    }
  }

 private:
  static std::unique_ptr<LockRequest> make_request(LockOwner& owner, std::string_view key, LockMode mode) {
    auto request = std::make_unique<LockRequest>();
    request->owner = &owner;
    request->mode = mode;
    request->key = key;
    const auto held = owner.held_.find(key);
    if (held != owner.held_.end()) request->upgrades = held->second.get();
    return request;
  }

  // Under the partition's mutex.
  static bool enqueue(LockTable::Partition& partition, std::string_view key, LockRequest& request) {
    auto& [stored_key, queue] = *partition.queues.try_emplace(key).first;
    request.key = stored_key;
    request.queue = &queue;
    return queue.request(request);
  }

  void keep(LockOwner& owner, std::unique_ptr<LockRequest> request) {
    if (request->upgrades != nullptr) return;  // the hold it was for is exclusive now
    locks_.fetch_add(1, std::memory_order_relaxed);
    const std::string_view key = request->key;
    owner.held_.emplace(key, std::move(request));
  }

  void take_back(LockRequest& request) {
    auto& partition = table_.partition(request.key);
    std::lock_guard lock(partition.mutex);
    take_back_locked(partition, request);
  }

  static void take_back_locked(LockTable::Partition& partition, LockRequest& request) {
    LockQueue& queue = *request.queue;
    queue.remove(request);
    request.withdrawn = true;
    if (queue.idle()) partition.queues.erase(partition.queues.find(request.key));
  }

  mutable LockTable table_;
  const size_t max_locks_;
  std::atomic<size_t> locks_{0};
  const std::unique_ptr<DeadlockPolicy> policy_;
  std::mutex graph_mutex_;
  absl::flat_hash_map<const LockOwner*, LockRequest*> waiting_;
};

// One call of lock(). Its destructor takes back what has not become a hold, also when the waiting coroutine
// is destroyed.
class LockManager::Impl::Attempt {
 public:
  Attempt(Impl& impl, LockOwner& owner, std::string_view key, LockMode mode)
      : impl_(impl), owner_(owner), request_(make_request(owner, key, mode)) {
    request_->parker = &parker_;
    auto& partition = impl_.table_.partition(key);
    std::lock_guard lock(partition.mutex);
    enqueue(partition, key, *request_);
  }
  // Out of the graph first: who searches it may look at the queue of every request in it.
  ~Attempt() {
    if (in_graph_) leave_graph();
    if (request_ != nullptr && !request_->withdrawn) impl_.take_back(*request_);
  }
  Attempt(const Attempt&) = delete;

  // Makes it a hold if it was granted.
  bool keep_if_granted() {
    {
      std::lock_guard lock(impl_.table_.partition(request_->key).mutex);
      if (!request_->granted) return false;
    }
    if (in_graph_) leave_graph();
    impl_.keep(owner_, std::move(request_));
    return true;
  }

  // An error when the wait must not be: it was killed before it began, or it closes a cycle.
  Status enter_graph() {
    began_ = Clock::now();
    lock_metrics::wait_began();
    std::lock_guard graph(impl_.graph_mutex_);
    impl_.waiting_.emplace(&owner_, request_.get());
    in_graph_ = true;
    if (owner_.killed_.load(std::memory_order_relaxed)) return killed_error();
    if (!impl_.policy_->must_give_up(&owner_, impl_)) return {};
    // Withdrawn while nobody else can search: of two waits that close one cycle only one gives up.
    auto& partition = impl_.table_.partition(request_->key);
    std::lock_guard lock(partition.mutex);
    if (request_->granted) return {};
    take_out_of_graph();
    take_back_locked(partition, *request_);
    lock_metrics::deadlock();
    return deadlock_error();
  }

  bool killed() const { return request_->killed.load(std::memory_order_relaxed); }
  Parker& parker() { return parker_; }

 private:
  void leave_graph() {
    std::lock_guard graph(impl_.graph_mutex_);
    take_out_of_graph();
  }

  // Under the graph's mutex.
  void take_out_of_graph() {
    impl_.waiting_.erase(&owner_);
    in_graph_ = false;
    lock_metrics::wait_ended(Clock::now() - began_);
  }

  Impl& impl_;
  LockOwner& owner_;
  std::unique_ptr<LockRequest> request_;
  Parker parker_;
  Deadline began_{};
  bool in_graph_ = false;
};

LockManager::LockManager() : LockManager(Options{}) {}
LockManager::LockManager(Options options) : impl_(std::make_unique<Impl>(options)) {}
LockManager::~LockManager() = default;

Task<Status> LockManager::lock(LockOwner& owner, std::string_view key, LockMode mode, Deadline deadline) {
  if (Impl::holds(owner, key, mode)) co_return Status{};
  if (impl_->full()) co_return full_error();
  Impl::Attempt attempt(*impl_, owner, key, mode);
  if (attempt.keep_if_granted()) co_return Status{};
  Status entered = attempt.enter_graph();
  if (!entered.ok()) co_return entered;
  co_await attempt.parker().park(deadline);
  if (attempt.keep_if_granted()) co_return Status{};
  if (attempt.killed()) co_return killed_error();
  lock_metrics::timeout();
  co_return timeout_error();
}

bool LockManager::try_lock(LockOwner& owner, std::string_view key, LockMode mode) {
  return Impl::holds(owner, key, mode) || impl_->try_lock(owner, key, mode);
}

void LockManager::release_all(LockOwner& owner) {
  impl_->release_all(owner);
}
void LockManager::release(LockOwner& owner, std::string_view key) {
  impl_->release(owner, key);
}
void LockManager::kill_wait(LockOwner& owner) {
  impl_->kill_wait(owner);
}

}  // namespace commitd::txn

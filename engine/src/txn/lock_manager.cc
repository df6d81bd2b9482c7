#include "txn/lock_manager.h"

#include "base/error_codes.h"
#include "txn/definition_gate.h"
#include "txn/lock_attempt.h"
#include "txn/lock_metrics.h"

namespace commitd::txn {

LockOwner::LockOwner() = default;
LockOwner::~LockOwner() = default;

void LockOwner::begin_transaction() {
  rows_changed_ = 0;
  // Unique without a counter that all sessions share.
  const uint64_t session = uint64_t{connection_id_} << 32;
  const uint64_t number = (transaction_id() + 1) & UINT32_MAX;
  transaction_id_.store(session | number, std::memory_order_relaxed);
}

LockManager::Impl::Impl(const Options& options)
    : table_(options.partitions), max_locks_(options.max_locks), detector_(*this, graph_mutex_) {
  detector_.set_policy(options.deadlock_policy);
  detector_.set_enabled(options.detect_deadlocks);
}

std::unique_lock<observe::Mutex> LockManager::Impl::global_lock() {
  if (!detector_.takes_global_lock()) return {};
  lock_metrics::global_lock_taken();
  return std::unique_lock(global_mutex_);
}

bool LockManager::Impl::holds(const LockOwner& owner, std::string_view key, LockMode mode) {
  const auto held = owner.held_.find(key);
  return held != owner.held_.end() && (held->second->mode == LockMode::Exclusive || mode == LockMode::Shared);
}

bool LockManager::Impl::try_lock(LockOwner& owner, std::string_view key, LockMode mode) {
  if (full()) return false;
  auto request = make_request(owner, key, mode);
  const auto global = global_lock();
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

void LockManager::Impl::release(LockOwner& owner, std::string_view key) {
  const auto held = owner.held_.find(key);
  if (held == owner.held_.end()) return;
  const auto global = global_lock();
  const std::unique_ptr<LockRequest> request = std::move(held->second);
  owner.held_.erase(held);
  take_back(*request);
  locks_.fetch_sub(1, std::memory_order_relaxed);
}

void LockManager::Impl::release_all(LockOwner& owner) {
  if (owner.held_.empty()) return;
  ranges_.remove_all(owner);
  const auto global = global_lock();
  for (auto& [key, request] : owner.held_) take_back(*request);
  locks_.fetch_sub(owner.held_.size(), std::memory_order_relaxed);
  owner.held_.clear();
}

void LockManager::Impl::release_rows(LockOwner& owner) {
  const auto global = global_lock();
  size_t released = 0;
  for (auto held = owner.held_.begin(); held != owner.held_.end();) {
    if (table_of_lock_key(held->first)) {
      ++held;
      continue;
    }
    const std::unique_ptr<LockRequest> request = std::move(held->second);
    owner.held_.erase(held++);
    take_back(*request);
    ++released;
  }
  locks_.fetch_sub(released, std::memory_order_relaxed);
}

void LockManager::Impl::kill_wait(LockOwner& owner) {
  std::lock_guard graph(graph_mutex_);
  owner.killed_.store(true, std::memory_order_relaxed);
  const auto wait = waiting_.find(&owner);
  if (wait == waiting_.end()) return;
  LockRequest& request = *wait->second;
  std::lock_guard lock(request.partition->mutex);
  if (request.granted || request.withdrawn) return;
  request.killed = true;
  request.parker->wake();
}

std::unique_ptr<LockRequest> LockManager::Impl::make_request(LockOwner& owner, std::string_view key,
                                                             LockMode mode) {
  auto request = std::make_unique<LockRequest>();
  request->owner = &owner;
  request->mode = mode;
  request->key = key;
  const auto held = owner.held_.find(key);
  if (held != owner.held_.end()) request->upgrades = held->second.get();
  return request;
}

bool LockManager::Impl::enqueue(Partition& partition, std::string_view key, LockRequest& request) {
  auto& [stored_key, queue] = *partition.queues.try_emplace(key).first;
  request.key = stored_key;
  request.queue = &queue;
  request.partition = &partition;
  // An upgrade is over with the hold that it is for.
  LockRequest& closing = request.upgrades != nullptr ? *request.upgrades : request;
  if (request.mode == LockMode::Exclusive && !closing.closes_definitions && table_of_lock_key(key)) {
    closing.closes_definitions = true;
    definition_gate().close();
  }
  return queue.request(request);
}

void LockManager::Impl::keep(LockOwner& owner, std::unique_ptr<LockRequest> request) {
  if (request->upgrades != nullptr) return;  // the hold it was for is exclusive now
  locks_.fetch_add(1, std::memory_order_relaxed);
  const std::string_view key = request->key;
  owner.held_.emplace(key, std::move(request));
}

void LockManager::Impl::take_back(LockRequest& request) {
  bool others_wait = false;
  {
    std::lock_guard lock(request.partition->mutex);
    if (request.withdrawn) return;
    others_wait = take_back_locked(request);
  }
  if (others_wait) detector_.edges_changed();
}

bool LockManager::Impl::take_back_locked(LockRequest& request) {
  LockQueue& queue = *request.queue;
  queue.remove(request);
  request.withdrawn = true;
  if (request.closes_definitions) definition_gate().open();
  const bool others_wait = !queue.waiting().empty();
  if (queue.idle()) request.partition->queues.erase(request.partition->queues.find(request.key));
  return others_wait;
}

LockManager::LockManager() : LockManager(Options{}) {}
LockManager::LockManager(Options options) : impl_(std::make_unique<Impl>(options)) {}
LockManager::~LockManager() = default;

namespace {

const observe::WaitEvent& wait_event(std::string_view key) {
  static const observe::WaitEvent table("wait/lock/metadata/sql/mdl"), row("wait/lock/row/commitd/key");
  return table_of_lock_key(key) ? table : row;
}

}  // namespace

Task<Status> LockManager::lock(LockOwner& owner, std::string_view key, LockMode mode, Deadline deadline) {
  if (Impl::holds(owner, key, mode)) co_return Status{};
  if (impl_->full())
    co_return make_error(er::kLockTableFull, "The total number of locks exceeds the lock table size");
  Attempt attempt(*impl_, owner, key, mode);
  if (attempt.keep_if_granted()) co_return Status{};
  Status begun = attempt.begin_wait();
  if (!begun.ok()) co_return begun;
  {
    const observe::WaitTimer timer(wait_event(key));
    co_await attempt.parker().park(deadline);
  }
  if (attempt.keep_if_granted()) co_return Status{};
  co_return attempt.failure();
}

bool LockManager::try_lock(LockOwner& owner, std::string_view key, LockMode mode) {
  return Impl::holds(owner, key, mode) || impl_->try_lock(owner, key, mode);
}

void LockManager::release_all(LockOwner& owner) {
  impl_->release_all(owner);
}
void LockManager::release_rows(LockOwner& owner) {
  impl_->release_rows(owner);
}
void LockManager::release(LockOwner& owner, std::string_view key) {
  impl_->release(owner, key);
}
RangeLocks& LockManager::ranges() {
  return impl_->ranges();
}
void LockManager::kill_wait(LockOwner& owner) {
  impl_->kill_wait(owner);
}

void LockManager::set_deadlock_policy(DeadlockPolicyName name) {
  impl_->detector().set_policy(name);
}
void LockManager::set_deadlock_detect(bool on) {
  impl_->detector().set_enabled(on);
}

std::vector<LockView> LockManager::locks() const {
  return impl_->views();
}
std::optional<DeadlockReport> LockManager::last_deadlock() const {
  return impl_->detector().last_deadlock();
}

namespace {

// Table names live below every index id in the lock table: index ids start at 1.
constexpr std::string_view kTableLockPrefix("\0\0\0\0", 4);

}  // namespace

std::string table_lock_key(std::string_view db, std::string_view table) {
  std::string key(kTableLockPrefix);
  key.append(db).append(1, '\0').append(table);
  return key;
}

std::optional<LockedTable> table_of_lock_key(std::string_view key) {
  if (!key.starts_with(kTableLockPrefix)) return std::nullopt;
  key.remove_prefix(kTableLockPrefix.size());
  const size_t end = key.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return LockedTable{key.substr(0, end), key.substr(end + 1)};
}

}  // namespace commitd::txn

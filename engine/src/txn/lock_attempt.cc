#include "txn/lock_attempt.h"

#include "base/error_codes.h"
#include "txn/lock_metrics.h"

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

}  // namespace

LockManager::Attempt::Attempt(Impl& impl, LockOwner& owner, std::string_view key, LockMode mode)
    : impl_(impl), owner_(owner), request_(Impl::make_request(owner, key, mode)) {
  const auto global = impl_.global_lock();
  request_->parker = &parker_;
  auto& partition = impl_.table_.partition(key);
  std::lock_guard lock(partition.mutex);
  Impl::enqueue(partition, key, *request_);
}

// Out of the graph first: who searches it may look at the queue of every request in it.
LockManager::Attempt::~Attempt() {
  if (in_graph_) leave_graph();
  if (request_ != nullptr) impl_.take_back(*request_);
}

bool LockManager::Attempt::keep_if_granted() {
  {
    std::lock_guard lock(request_->partition->mutex);
    if (!request_->granted) return false;
  }
  if (in_graph_) leave_graph();
  impl_.keep(owner_, std::move(request_));
  return true;
}

Status LockManager::Attempt::begin_wait() {
  began_ = Clock::now();
  lock_metrics::wait_began();
  owner_.set_wait(table_of_lock_key(request_->key) ? LockOwner::Wait::Table : LockOwner::Wait::Row);
  const auto global = impl_.global_lock();
  std::lock_guard graph(impl_.graph_mutex_);
  impl_.waiting_.emplace(&owner_, request_.get());
  in_graph_ = true;
  if (owner_.killed_.load(std::memory_order_relaxed)) return killed_error();
  impl_.detector_.wait_began(&owner_);
  std::lock_guard lock(request_->partition->mutex);
  return request_->deadlocked ? Status(deadlock_error()) : Status();
}

Status LockManager::Attempt::failure() {
  std::lock_guard lock(request_->partition->mutex);
  if (request_->deadlocked) return deadlock_error();
  if (request_->killed) return killed_error();
  lock_metrics::timeout();
  return timeout_error();
}

void LockManager::Attempt::leave_graph() {
  {
    std::lock_guard graph(impl_.graph_mutex_);
    impl_.waiting_.erase(&owner_);
  }
  in_graph_ = false;
  owner_.set_wait(LockOwner::Wait::None);
  const auto waited = Clock::now() - began_;
  owner_.waited_ += std::chrono::duration_cast<std::chrono::microseconds>(waited);
  lock_metrics::wait_ended(waited);
}

}  // namespace commitd::txn

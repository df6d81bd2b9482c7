// The lock manager as others look at it: the graph of waits for the detector, all locks for
// performance_schema.
#include "txn/lock_manager_impl.h"

namespace commitd::txn {

// Its request cannot go away under the graph's mutex; whether it still waits is for the partition's to say.
const LockRequest* LockManager::Impl::waiting_request(const LockOwner* waiter) const {
  const auto wait = waiting_.find(waiter);
  return wait == waiting_.end() ? nullptr : wait->second;
}

void LockManager::Impl::holders_waited_for(const LockOwner* waiter, LockOwners& holders) const {
  const LockRequest* request = waiting_request(waiter);
  if (request == nullptr) return;
  std::lock_guard lock(request->partition->mutex);
  if (request->granted || request->withdrawn) return;
  for (const LockRequest* holder : request->queue->holders()) {
    if (holder->owner != waiter) holders.push_back(holder->owner);
  }
}

void LockManager::Impl::all_waited_for(const LockOwner* waiter, LockOwners& others) const {
  const LockRequest* request = waiting_request(waiter);
  if (request == nullptr) return;
  std::lock_guard lock(request->partition->mutex);
  if (request->granted || request->withdrawn) return;
  for (const LockRequest* other : request->queue->in_the_way_of(*request)) others.push_back(other->owner);
}

void LockManager::Impl::waiters(LockOwners& all) const {
  all.reserve(waiting_.size());
  for (const auto& [owner, request] : waiting_) all.push_back(owner);
}

uint64_t LockManager::Impl::weight(const LockOwner* waiter) const {
  return waiter->rows_changed_ + waiter->held_.size();
}

// Withdrawn while nobody else can search: of two waits that close one cycle only one gives up.
bool LockManager::Impl::give_up(const LockOwner* victim) {
  const auto wait = waiting_.find(victim);
  if (wait == waiting_.end()) return false;
  LockRequest& request = *wait->second;
  std::lock_guard lock(request.partition->mutex);
  if (request.granted || request.withdrawn) return false;
  waiting_.erase(wait);
  take_back_locked(request);
  request.deadlocked = true;
  request.parker->wake();
  return true;
}

DeadlockReport::Member LockManager::Impl::describe(const LockOwner* waiter) const {
  DeadlockReport::Member member;
  const LockRequest* request = waiting_request(waiter);
  if (request == nullptr) return member;
  constexpr size_t kLongestStatement = 1024;
  member.transaction_id = waiter->transaction_id();
  member.connection_id = waiter->connection_id();
  member.statement = waiter->statement_.substr(0, kLongestStatement);
  member.locks = waiter->held_.size();
  member.rows_changed = waiter->rows_changed_;
  member.mode = request->mode;
  std::lock_guard lock(request->partition->mutex);
  if (!request->withdrawn) member.waits_for = request->key;
  return member;
}

LockView LockManager::Impl::view_of(const LockRequest& request) {
  LockView view;
  view.id = reinterpret_cast<uintptr_t>(&request);
  view.transaction_id = request.owner->transaction_id();
  view.connection_id = request.owner->connection_id();
  view.key = request.key;
  view.mode = request.mode;
  view.granted = request.granted;
  return view;
}

std::vector<LockView> LockManager::Impl::views() const {
  std::vector<LockView> views;
  for (Partition& partition : table_.partitions()) {
    std::lock_guard lock(partition.mutex);
    for (const auto& [key, queue] : partition.queues) {
      for (const LockRequest* holder : queue.holders()) views.push_back(view_of(*holder));
      for (const LockRequest* waiter : queue.waiting()) {
        LockView& view = views.emplace_back(view_of(*waiter));
        for (const LockRequest* other : queue.in_the_way_of(*waiter))
          view.blocked_by.push_back(reinterpret_cast<uintptr_t>(other));
      }
    }
  }
  return views;
}

}  // namespace commitd::txn

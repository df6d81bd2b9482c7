#include "txn/lock_queue.h"

#include <algorithm>

namespace commitd::txn {

namespace {

bool excludes(const LockRequest& request, const LockRequest& other) {
  return &other != request.upgrades &&
         (other.mode == LockMode::Exclusive || request.mode == LockMode::Exclusive);
}

}  // namespace

bool LockQueue::compatible_with_holders(const LockRequest& request) const {
  return std::none_of(granted_.begin(), granted_.end(),
                      [&](const LockRequest* holder) { return excludes(request, *holder); });
}

std::vector<const LockRequest*> LockQueue::in_the_way_of(const LockRequest& request) const {
  std::vector<const LockRequest*> found;
  for (const LockRequest* holder : granted_) {
    if (excludes(request, *holder)) found.push_back(holder);
  }
  for (const LockRequest* waiter : waiting_) {
    if (waiter == &request) break;
    if (excludes(request, *waiter)) found.push_back(waiter);
  }
  return found;
}

bool LockQueue::could_grant(const LockRequest& request) const {
  const bool may_pass_waiters = request.upgrades != nullptr || waiting_.empty();
  return may_pass_waiters && compatible_with_holders(request);
}

bool LockQueue::request(LockRequest& request) {
  if (could_grant(request)) {
    grant(request);
    return true;
  }
  if (request.upgrades != nullptr) {
    waiting_.push_front(&request);
  } else {
    waiting_.push_back(&request);
  }
  return false;
}

void LockQueue::grant(LockRequest& request) {
  request.granted = true;
  if (request.upgrades != nullptr) {
    request.upgrades->mode = LockMode::Exclusive;
  } else {
    granted_.push_back(&request);
  }
}

void LockQueue::remove(LockRequest& request) {
  if (request.granted) {
    granted_.erase(std::remove(granted_.begin(), granted_.end(), &request), granted_.end());
  } else {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &request));
  }
  grant_from_front();
}

void LockQueue::grant_from_front() {
  while (!waiting_.empty() && compatible_with_holders(*waiting_.front())) {
    LockRequest& next = *waiting_.front();
    waiting_.pop_front();
    grant(next);
    next.parker->wake();
  }
}

}  // namespace commitd::txn

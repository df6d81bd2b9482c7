#include "txn/lock_queue.h"

#include <algorithm>

namespace commitd::txn {

bool LockQueue::compatible_with_holders(const LockRequest& request) const {
  return std::all_of(granted_.begin(), granted_.end(), [&](const LockRequest* holder) {
    return holder == request.upgrades ||
           (holder->mode == LockMode::Shared && request.mode == LockMode::Shared);
  });
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
    std::erase(granted_, &request);
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

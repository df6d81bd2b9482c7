// One call of LockManager::lock(). Its destructor takes back what has not become a hold, also when the
// waiting coroutine is destroyed.
#pragma once

#include "txn/lock_manager_impl.h"

namespace commitd::txn {

class LockManager::Attempt {
 public:
  Attempt(Impl& impl, LockOwner& owner, std::string_view key, LockMode mode);
  ~Attempt();
  Attempt(const Attempt&) = delete;

  // Makes it a hold if it was granted.
  bool keep_if_granted();
  // From here on others see the wait. An error when it must not be: it was killed before it began, or it is
  // the victim of the deadlock it makes.
  Status begin_wait();
  // Why the wait has ended without the lock.
  Status failure();
  Parker& parker() { return parker_; }

 private:
  void leave_graph();

  Impl& impl_;
  LockOwner& owner_;
  std::unique_ptr<LockRequest> request_;
  Parker parker_;
  Deadline began_{};
  bool in_graph_ = false;
};

}  // namespace commitd::txn

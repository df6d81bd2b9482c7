#include "commit/commit_wakeup.h"

#include "observe/metrics.h"

namespace commitd::binlog {

void count_wakeup() {
  static auto& wakeups = observe::counter(
      "commitd_wakeups_total", "Waiters for commits, log positions and executed GTIDs that were woken.");
  wakeups.add();
}

void WaitingRoom::enter(Guest& guest) {
  MutexLock lock(mutex_);
  guests_.push_back(&guest);
}

bool WaitingRoom::leave(Guest& guest) {
  MutexLock lock(mutex_);
  if (guest.answered) {
    guests_.remove(&guest);
    return true;
  }
  guest.parker.reset();  // parkers are woken under the lock only
  return false;
}

void WaitingRoom::mark_answered(Guest& guest) {
  MutexLock lock(mutex_);
  guest.answered = true;
}

void WaitingRoom::wake_everybody() {
  MutexLock lock(mutex_);
  for (Guest* guest : guests_) {
    count_wakeup();
    guest->parker.wake();
  }
}

}  // namespace commitd::binlog

// commitd_wakeup=broadcast: the committing sessions wait together; whenever some of them are answered,
// everybody is woken, looks whether it was meant, and waits on. The default wakes each by its own Parker.
#pragma once

#include <list>

#include "observe/mutex.h"
#include "runtime/parker.h"

namespace commitd::binlog {

class WaitingRoom {
 public:
  struct Guest {
    Parker parker;
    bool answered = false;  // under the room's lock
  };

  void enter(Guest& guest);
  // For the woken guest: true when he was answered and has left; otherwise he parks again.
  bool leave(Guest& guest);
  // For who answers: does not wake yet. The guest may be gone when this returns.
  void mark_answered(Guest& guest);
  void wake_everybody();

 private:
  observe::Mutex mutex_{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_done"};
  std::list<Guest*> guests_ ABSL_GUARDED_BY(mutex_);
};

// One more waiter of the commit path was woken.
void count_wakeup();

}  // namespace commitd::binlog

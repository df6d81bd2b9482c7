// What waits for the log thread: local commits, received transactions, and tasks that must run between two
// groups.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commit/commit_pipeline.h"
#include "commit/commit_wakeup.h"
#include "commit/group_wait.h"
#include "observe/mutex.h"
#include "runtime/idle_spin.h"
#include "runtime/parker.h"

namespace commitd::binlog {

// A commit() that is under way; lives in its coroutine. Whoever takes it off the last list it stands on
// answers it, once.
struct LocalCommit {
  CommitRequest* request = nullptr;
  OrderedTransaction ordered;
  std::string prepared;      // Engine::prepare()'s record
  bool is_prepared = false;  // the engine has that
  bool goes_itself = false;  // binlog_order_commits=OFF: once woken, it goes into the engine by itself
  Status result;
  Clock::time_point queued, taken, durable, acknowledged, shown;
  WaitingRoom::Guest waiting;
  WaitingRoom* room = nullptr;  // null: woken alone

  // The coroutine may be gone when this returns.
  void answer(Status status) {
    WaitingRoom* shared = answer_quietly(std::move(status));
    if (shared != nullptr) shared->wake_everybody();
  }
  // The same for one of many: who waits in a room is woken by the caller, with everybody else in it.
  WaitingRoom* answer_quietly(Status status) {
    WaitingRoom* shared = room;
    result = std::move(status);
    if (shared != nullptr) {
      shared->mark_answered(waiting);
    } else {
      count_wakeup();
      waiting.parker.wake();
    }
    return shared;
  }
};

struct ReceivedTransaction {
  EventSpool events;
  Gtid gtid;
  std::function<void(LogPosition)> on_durable;
};

// Runs on the log thread; lives in a coroutine.
struct LogTask {
  std::function<Status()> run;
  Parker parker;
  Status result;
};

class CommitQueue {
 public:
  explicit CommitQueue(OrderedWrites& ordered) : ordered_(ordered) {}

  // An error when local commits are not taken now, or when what this one has seen was lost.
  Status push(LocalCommit& commit);
  void push(ReceivedTransaction received);
  Status push(LogTask& task);

  // One that is spilled is alone among the transactions.
  struct Batch {
    std::vector<LocalCommit*> local;
    std::vector<ReceivedTransaction> received;
    std::vector<LogTask*> tasks;
  };
  // How long transactions wait for others to share their group.
  struct Gathering {
    std::chrono::microseconds time{0};
    size_t enough = 0;           // no longer once there are so many; 0: the time alone decides
    bool one_at_a_time = false;  // only one local transaction
    bool for_others = false;     // as long as GroupWait says; where `time` is 0
  };
  // For the log thread: waits for work. Calling it again says that the last batch is dealt with. nullopt =
  // stopped, and nothing is left.
  std::optional<Batch> take(const std::function<Gathering()>& gathering);
  // For the log thread: the last batch is durable; who is in it will be answered.
  void batch_is_durable(Clock::time_point now);
  // Received transactions that could not be written go back to the front; the log thread rests before it
  // tries again.
  void put_back(std::vector<ReceivedTransaction> received, std::chrono::milliseconds rest);
  void drop_received();

  // While held, only epoch transactions are taken from the local commits: too much is unacknowledged.
  void hold_local(bool on);
  // The same for as long as somebody wants it (FLUSH TABLES WITH READ LOCK); counted.
  void freeze_local();
  void thaw_local();
  // No group with local commits is being written. While frozen, it stays so.
  bool is_between_groups();
  // Local commits are refused with `why` until opened, all but epoch transactions: by one of those a server
  // becomes writable. Those still queued are returned to be answered.
  std::vector<LocalCommit*> close(Error why);
  // The same for good and for all.
  std::vector<LocalCommit*> fail(Error why);
  void open();
  std::vector<LocalCommit*> remove_queued();
  // These will not be taken into the engine, so neither may those that have seen what they wrote: the queued
  // ones among them are returned to be answered, and no other is let in any more.
  std::vector<LocalCommit*> give_up(std::span<LocalCommit* const> commits);

  // Waits until the log thread is between two batches and keeps it there. One pause at a time; others wait
  // for it.
  void pause();
  void resume();
  // Nothing more is accepted; take() hands out what is left.
  void stop();
  bool is_empty() const;
  bool is_open() const;  // takes local commits

 private:
  using Lock = MutexLock<observe::Mutex>;
  bool can_take() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool can_take_local() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void tell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool work_is_there() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return can_take() || (stopped_ && !paused_);
  }
  void wait_for_work(Lock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool holds_local() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return held_ || frozen_ > 0; }
  bool wait_for_others(Lock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void gather(Lock& lock, const Gathering& how) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool something_else_is_wanted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopped_ || paused_ || !tasks_.empty();
  }
  Batch take_batch(bool one_at_a_time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<LocalCommit*> take_out_queued() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  OrderedWrites& ordered_;
  mutable observe::Mutex mutex_{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_flush_queue"};
  observe::Condition work_{"wait/synch/cond/sql/MYSQL_BIN_LOG::COND_flush_queue"};
  observe::Condition between_batches_{"wait/synch/cond/commitd/log_thread_idle"};
  std::atomic<uint64_t> news_{0};  // counts what may end the log thread's wait
  IdleSpin idle_;                  // the log thread's
  GroupWait group_wait_ ABSL_GUARDED_BY(mutex_);
  size_t wanted_ ABSL_GUARDED_BY(mutex_) = 0;  // the log thread is not woken for fewer local commits
  std::deque<LocalCommit*> local_ ABSL_GUARDED_BY(mutex_);
  std::deque<ReceivedTransaction> received_ ABSL_GUARDED_BY(mutex_);
  std::vector<LogTask*> tasks_ ABSL_GUARDED_BY(mutex_);
  std::optional<Error> closed_ ABSL_GUARDED_BY(mutex_), failed_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false, busy_with_local_ ABSL_GUARDED_BY(mutex_) = false;
  bool paused_ ABSL_GUARDED_BY(mutex_) = false, held_ ABSL_GUARDED_BY(mutex_) = false,
               stopped_ ABSL_GUARDED_BY(mutex_) = false;
  size_t frozen_ ABSL_GUARDED_BY(mutex_) = 0;
  bool received_failed_ ABSL_GUARDED_BY(mutex_) = false;  // the last that were taken: it is the others' turn
};

}  // namespace commitd::binlog

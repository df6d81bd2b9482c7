// What waits for the log thread: local commits, received transactions, and errands that must run between two
// groups.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "binlog/commit_pipeline.h"
#include "runtime/parker.h"

namespace commitd::binlog {

// A commit() that is under way; lives in its coroutine. Whoever takes it off the last list it stands on
// answers it, once.
struct LocalCommit {
  CommitRequest* request = nullptr;
  Parker parker;
  Status result;
  Clock::time_point queued, taken, durable, acknowledged;

  // The coroutine may be gone when this returns.
  void answer(Status status) {
    result = std::move(status);
    parker.wake();
  }
};

struct ReceivedTransaction {
  std::string events;
  Gtid gtid;
  std::function<void(LogPosition)> on_durable;
};

// Runs on the log thread; lives in a coroutine.
struct Errand {
  std::function<Status()> run;
  Parker parker;
  Status result;
};

class CommitQueue {
 public:
  // An error when local commits are not taken now.
  Status push(LocalCommit& commit);
  void push(ReceivedTransaction received);
  Status push(Errand& errand);

  struct Batch {
    std::vector<LocalCommit*> local;
    std::vector<ReceivedTransaction> received;
    std::vector<Errand*> errands;
  };
  // For the log thread: waits for work. Calling it again says that the last batch is dealt with. nullopt =
  // stopped, and nothing is left.
  std::optional<Batch> take();
  // Received transactions that could not be written go back to the front; the log thread rests before it
  // tries again.
  void put_back(std::vector<ReceivedTransaction> received, std::chrono::milliseconds rest);

  // While held, only epoch transactions are taken from the local commits: too much is unacknowledged.
  void hold_local(bool on);
  // Local commits are refused with `why` until opened, all but epoch transactions: by one of those a server
  // becomes writable. Those still queued are returned to be answered.
  std::vector<LocalCommit*> close(Error why);
  // The same for good and for all.
  std::vector<LocalCommit*> fail(Error why);
  void open();
  std::vector<LocalCommit*> remove_queued();

  // Waits until the log thread is between two batches and keeps it there. One pause at a time; others wait
  // for it.
  void pause();
  void resume();
  // Nothing more is accepted; take() hands out what is left.
  void stop();

 private:
  bool can_take() const;
  Batch take_batch();

  std::mutex mutex_;
  std::condition_variable work_, idle_;
  std::deque<LocalCommit*> local_;
  std::deque<ReceivedTransaction> received_;
  std::vector<Errand*> errands_;
  std::optional<Error> closed_, failed_;
  bool busy_ = false, paused_ = false, held_ = false, stopped_ = false;
};

}  // namespace commitd::binlog

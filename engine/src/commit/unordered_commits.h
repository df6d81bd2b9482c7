// binlog_order_commits=OFF: the transactions of one batch go into the engine in whatever order their sessions
// come to it, each with a sync of its own.
//
// What the engine says of itself stays true meanwhile: its position is in front of the first transaction that
// is missing, its GTIDs name exactly those that are there, and `incomplete_up_to` says how far these go. So a
// start replays from the position and leaves out what is there already.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>

#include "commit/engine_stage.h"
#include "observe/mutex.h"
#include "storage/engine.h"

namespace commitd::binlog {

class UnorderedCommits {
 public:
  // `taken`: called behind each transaction, by its session; the engine stands there, or later.
  using Taken = std::function<void(const CommitRequest&, const storage::EnginePlace&)>;
  UnorderedCommits(storage::Engine& engine, Taken taken) : engine_(engine), taken_(std::move(taken)) {}

  // The engine thread, before it wakes the sessions. `place`: in front of the first of them.
  void expect(std::span<const PendingTransaction> transactions, const storage::EnginePlace& place);
  // The place behind them all, when the last of them has come; an error when one of them failed.
  Result<storage::EnginePlace> wait_for_all();

  // A session takes its own.
  Status take(const CommitRequest& request);

 private:
  Status put(const CommitRequest& request);

  storage::Engine& engine_;
  const Taken taken_;
  observe::Mutex mutex_{"wait/synch/mutex/commitd/unordered_commits"};
  observe::Condition all_came_{"wait/synch/cond/commitd/unordered_commits"};
  storage::EnginePlace place_ ABSL_GUARDED_BY(mutex_);
  std::map<LogPosition, bool> ends_
      ABSL_GUARDED_BY(mutex_);  // of those behind place_.position; whether they are in the engine
  size_t to_come_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Error> failed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::binlog

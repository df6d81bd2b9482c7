// How far what was received may enter the engine: as far as its source says that it is acknowledged. Outside
// of clusters also no further at all (STOP REPLICA SQL_THREAD), or not before it was committed at its source
// so long ago (SOURCE_DELAY), or up to certain transactions (START REPLICA UNTIL). It is logged and
// acknowledged to the source all the same; and since nothing but acknowledged transactions enters the engine,
// a start finds out by the log what waits.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "base/mutex.h"
#include "commit/commit_pipeline.h"
#include "replication/received_queue.h"
#include "replication/until_count.h"
#include "runtime/reactor.h"
#include "runtime/task.h"
#include "sql/apply_until.h"

namespace commitd::replication {

struct ApplyRule {
  bool held = false;
  std::chrono::seconds delay{0};
  std::optional<sql::ApplyUntil> until = {};

  bool operator==(const ApplyRule&) const = default;
  bool waits() const { return !held && (delay != delay.zero() || until); }
};

class ApplyGate : public std::enable_shared_from_this<ApplyGate> {
 public:
  explicit ApplyGate(Reactor* reactor) : reactor_(reactor) {}

  // Of a start, before the pipeline's: what it has found in the log and not applied waits by this rule.
  struct Received {
    uint64_t series = 0;                    // of places in the source's log
    std::optional<SourceStand> stand = {};  // by file and position
  };
  Status attach(binlog::CommitPipeline& pipeline, const ApplyRule& rule, const Received& received);
  // When it returns and the rule holds, nothing enters the engine any more; a change of that kind waits for
  // what is under way.
  Task<void> set(ApplyRule rule);
  ApplyRule rule() const;
  // The rule's `until` lets nothing more through, and all in front of that is applied.
  bool until_is_reached() const;

  // --- of the receiver ---
  // `tells`: a commitd, which says what is acknowledged. With another source what is durable here is all
  // there is to wait for.
  void source_is(bool tells);
  void allow(LogPosition up_to);
  void allow_through(const Gtid& gtid);  // as soon as it is durable here

  // Another series of places begins, there.
  void begin_places(uint64_t series, const SourceStand& stand);

  // What was applied since goes from received(), and what had no room there comes in.
  void trim_received();
  // What was received and stands behind that.
  Result<GtidSet> received_behind(LogPosition begin) const;

  // Behind a cut, and when the log starts anew.
  void log_was_cut();
  void log_was_reset();

  // When the applier has stopped by an error, as it was noticed: microseconds.
  std::optional<uint64_t> note_error();

  ReceivedQueue& received() { return received_; }
  const ReceivedQueue& received() const { return received_; }

 private:
  using Visit = std::function<bool(ReceivedEntry)>;  // false: that was enough
  Status read_log(LogPosition from, uint64_t most_bytes, const Visit& visit) const;
  Status find_received(const Received& received);
  void begin_until(const sql::ApplyUntil& until) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void let_everything_through() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool let_through_what_is_due(uint64_t generation);
  LogPosition find_end_of_what_is_due() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  LogPosition find_allowed_end() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static Task<void> watch_the_time(std::shared_ptr<ApplyGate> self, uint64_t generation);

  Reactor* const reactor_;
  binlog::CommitPipeline* pipeline_ = nullptr;
  ReceivedQueue received_;
  std::atomic<uint64_t> series_{0};
  Mutex remembering_;  // around reading what was left out

  mutable Mutex mutex_;
  ApplyRule rule_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;  // of rules
  // Where what the rule lets through ended when it was looked at last, and what it has counted until there.
  LogPosition due_ ABSL_GUARDED_BY(mutex_);
  std::optional<UntilCount> until_ ABSL_GUARDED_BY(mutex_);
  bool source_tells_ ABSL_GUARDED_BY(mutex_) = false;
  // The source's last words.
  LogPosition allowed_to_ ABSL_GUARDED_BY(mutex_);
  Gtid allowed_through_ ABSL_GUARDED_BY(mutex_);
  std::optional<uint64_t> error_at_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::replication

// The commit as a value: numbered → written → durable → acknowledged → applied. Which transactions stand
// where, which GTIDs are given, the gate, a freeze, a cut. No thread, file or mutex: whoever drives it locks,
// takes a step, unlocks and does what the step says. What must hold is checked at every step;
// order_exploration_test.cc takes the steps in every order.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "commit/group_numbers.h"
#include "commit/pending_transaction.h"
#include "storage/engine.h"

namespace commitd::binlog {

class Order {
 public:
  enum class Gate : uint8_t {
    Immediate,   // durable is enough
    Gated,       // what is not acknowledged waits in front of the engine
    ShownFirst,  // AFTER_COMMIT: what a session waits for is in the engine once it is durable, and its
                 // session waits; all else as Gated
  };

  // What a start found: the engine's place, and the log behind it, whose transactions found() tells.
  struct Start {
    Uuid own;
    uint64_t gno_floor = 0;
    LogPosition log_end;
    GtidSet logged;
    uint64_t last_log_epoch = 0;
    storage::CommitPoint engine;
  };
  explicit Order(const Start& start);

  // --- GTIDs ---
  // For the group that is written next.
  GroupNumbers numbers() const { return {own_, logged_, next_gno_}; }
  // A number of our own that comes back by replication may be above all that this log has ever given: a copy
  // that was restored, or a log that a loss of power made shorter. It names a transaction all the same, from
  // the moment it is heard of: others may be written before it.
  void keep_number(const Gtid& received);
  void raise_gno_floor(uint64_t floor);
  // They count as executed, and are in no file. Only while nothing is pending.
  void add_purged(const GtidSet& gtids);

  // --- a start ---
  // A transaction behind the engine's place: it waits until it is acknowledged.
  void found(const PendingTransaction& transaction);
  // The same, and it is on its way into the engine: `acknowledged` says so.
  void acknowledge_found(LogPosition acknowledged);
  void replaying(std::span<const PendingTransaction> batch);

  // --- the log ---
  // A group is in the file, up to `end`; its numbers are given, whatever becomes of it.
  void written(LogPosition end, uint64_t next_gno);
  // It is durable, as sync_binlog has it. Also without transactions: a new file's head.
  void durable(std::span<const PendingTransaction> group, LogPosition end);
  // The log was left: from now on all transactions stand at its end.
  void leave_log(LogPosition end);
  // It goes on in a new file, which the engine stands at.
  void return_to_log(LogPosition end) { place_all_at(end); }

  // --- acknowledgement ---
  Gate gate() const { return gate_; }
  void set_gate(Gate gate);
  void acknowledge(LogPosition up_to);
  void acknowledge_through(const Gtid& gtid);  // as soon as it is durable here
  // Sessions whose transactions were shown first, and are acknowledged now; each is given once.
  std::vector<LocalCommit*> take_answerable() { return std::exchange(answerable_, {}); }

  // --- the engine ---
  // The first of those that wait may be taken.
  bool front_may_be_taken() const;
  bool can_take() const { return in_engine_ == 0 && front_may_be_taken(); }
  // Until they are reported, nobody else takes anything.
  std::vector<PendingTransaction> take(size_t most);
  // Of those taken, the first; `place` is behind them.
  void applied(std::span<const PendingTransaction> transactions, const storage::EnginePlace& place);
  // binlog_order_commits=OFF: one of those taken, and `point` in front of the first that is missing; then
  // all.
  void applied_alone(const Gtid& gtid, LogPosition end, LogPosition point);
  void all_applied(std::span<const PendingTransaction> transactions);
  // Without transactions: the engine stands at `end`, and nothing is pending.
  void engine_is_at(LogPosition end);
  // What was taken and is not applied never will be.
  void abandon_taken();
  // The first of `rest`, all that is taken, cannot be applied, or the engine has no room for it. They wait in
  // front of all others.
  enum class Stop : uint8_t { Unappliable, NoRoom };
  void stop_applying(std::span<const PendingTransaction> rest, Error why, Stop kind = Stop::Unappliable);
  void retry_apply() { apply_error_.reset(); }
  bool waits_for_room() const { return apply_error_ && stop_ == Stop::NoRoom; }
  bool skip_unappliable(const Gtid& gtid);

  // Nothing behind that place is taken, acknowledged or not.
  void limit_apply(std::optional<LogPosition> end) { apply_limit_ = end; }

  // --- a freeze: nothing enters the engine; counted ---
  void freeze() { ++freezes_; }
  // True when what was under way has arrived: local commits hold locks, and count on an answer.
  bool try_frozen();
  void thaw();

  // --- changes of role ---
  // Nothing more will be taken.
  bool fail(const Error& why);  // false: it has failed before
  // They stay in the log; their sessions are told something else.
  std::vector<LocalCommit*> detach_waiters();
  // The same for those that were shown first; while none of them is on its way into the engine.
  std::vector<LocalCommit*> detach_shown();
  // One of them is neither applied nor cut.
  bool has_detached() const { return detached_end_ > applied_end_; }
  // Where the log is to end so that nothing is left that is not in `keep`; nullopt: nothing is to be cut.
  // Error 3002 when one of those has been acknowledged.
  Result<std::optional<LogPosition>> plan_cut(const GtidSet& keep) const;
  // The log was cut there, and ends at `log_end`.
  std::vector<PendingTransaction> cut(LogPosition position, LogPosition log_end);
  // RESET BINARY LOGS AND GTIDS: as at the first start.
  void restart(LogPosition log_end);

  // --- what is seen of it ---
  LogPosition written_end() const { return written_end_; }
  LogPosition durable_end() const { return durable_end_; }
  LogPosition acknowledged_end() const { return acknowledged_end_; }
  LogPosition applied_end() const { return applied_end_; }
  const GtidSet& logged() const { return logged_; }
  const GtidSet& executed() const { return executed_; }
  uint64_t next_gno() const { return next_gno_; }
  uint64_t last_log_epoch() const { return last_log_epoch_; }
  const std::deque<PendingTransaction>& pending() const { return pending_; }
  size_t pending_bytes() const { return pending_bytes_; }
  size_t in_engine() const { return in_engine_; }
  bool is_idle() const { return pending_.empty() && in_engine_ == 0; }
  uint64_t unapplied() const { return pending_.size() + in_engine_; }
  const std::optional<Error>& failure() const { return failure_; }
  const std::optional<Error>& apply_error() const { return apply_error_; }
  const std::set<Gtid>& acknowledged_ahead() const { return acknowledged_ahead_; }
  // In the engine, or on their way into it, and not acknowledged.
  bool has_shown() const { return taken_early_ != 0 || !shown_.empty(); }
  bool takes_early() const { return taken_early_ != 0; }
  size_t shown() const { return shown_.size(); }
  // Nullptr: everything durable is acknowledged, but for what is on its way into the engine.
  const PendingTransaction* oldest_unacknowledged() const;
  // The place in the log that goes with what is visible.
  LogPosition visible_end() const;

 private:
  void add_pending(const PendingTransaction& transaction);
  void met(const PendingTransaction& transaction);
  bool may_be_shown_first(const PendingTransaction& transaction) const;
  void count_out(std::span<const PendingTransaction> transactions);
  void place_all_at(LogPosition end);
  void check() const;

  Uuid own_;
  std::deque<PendingTransaction> pending_;  // in log order
  size_t pending_bytes_ = 0;                // of these, and of those on their way into the engine
  size_t in_engine_ = 0;                    // taken, and not reported yet
  size_t taken_early_ = 0;                  // of these, shown_early
  std::deque<PendingTransaction> shown_;    // in the engine, and not acknowledged; in log order
  std::vector<LocalCommit*> answerable_;
  Gate gate_ = Gate::Immediate;
  LogPosition written_end_, durable_end_, acknowledged_end_, applied_end_;
  LogPosition met_end_;       // a start came so far
  LogPosition detached_end_;  // of the last of which that is told
  GtidSet logged_, executed_;
  uint64_t last_log_epoch_ = 0, applied_epoch_ = 0;
  uint64_t next_gno_ = 1;
  std::set<Gtid> acknowledged_ahead_;  // by name, before they were durable here
  std::optional<Error> failure_, apply_error_;
  Stop stop_ = Stop::Unappliable;  // why apply_error_
  std::optional<LogPosition> apply_limit_;
  size_t freezes_ = 0;          // who wants nothing to enter the engine
  bool engine_frozen_ = false;  // what was under way when they came has arrived
};

}  // namespace commitd::binlog

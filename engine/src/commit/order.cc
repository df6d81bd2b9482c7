#include "commit/order.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error_codes.h"

namespace commitd::binlog {

Order::Order(const Start& start)
    : own_(start.own),
      written_end_(start.log_end),
      durable_end_(start.log_end),
      acknowledged_end_(start.engine.position),
      applied_end_(start.engine.position),
      met_end_(start.engine.position),
      logged_(start.logged),
      executed_(start.engine.executed),
      last_log_epoch_(std::max(start.last_log_epoch, start.engine.epoch)),
      applied_epoch_(start.engine.epoch) {
  logged_.add(executed_);
  next_gno_ = std::max(start.gno_floor, logged_.last(own_)) + 1;
}

void Order::check() const {
  COMMITD_CHECK(durable_end_ <= written_end_, "durable up to {}:{}, written up to {}:{}", durable_end_.file,
                durable_end_.offset, written_end_.file, written_end_.offset);
  COMMITD_CHECK(acknowledged_end_ <= durable_end_, "acknowledged up to {}:{}, durable up to {}:{}",
                acknowledged_end_.file, acknowledged_end_.offset, durable_end_.file, durable_end_.offset);
  COMMITD_CHECK(applied_end_ <= acknowledged_end_ || !shown_.empty(),
                "applied up to {}:{}, acknowledged up to {}:{}", applied_end_.file, applied_end_.offset,
                acknowledged_end_.file, acknowledged_end_.offset);
  COMMITD_CHECK(shown_.empty() || shown_.front().end > acknowledged_end_ || shown_.front().gtid.empty(),
                "{} waits for an acknowledgement that is there", shown_.front().gtid.to_string());
}

void Order::keep_number(const Gtid& received) {
  if (received.sid == own_) next_gno_ = std::max(next_gno_, received.gno + 1);
}

void Order::raise_gno_floor(uint64_t floor) {
  next_gno_ = std::max(next_gno_, floor + 1);
}

void Order::add_purged(const GtidSet& gtids) {
  COMMITD_CHECK(is_idle(), "{} transactions are not applied", unapplied());
  executed_.add(gtids);
  logged_.add(gtids);
  raise_gno_floor(logged_.last(own_));
}

void Order::add_pending(const PendingTransaction& transaction) {
  pending_bytes_ += transaction.size();
  pending_.push_back(transaction);
}

void Order::acknowledge_found(LogPosition acknowledged) {
  acknowledged_end_ = std::max(acknowledged_end_, std::min(acknowledged, durable_end_));
}

// Each transaction of the log once, and none that the engine has.
void Order::met(const PendingTransaction& transaction) {
  COMMITD_CHECK(transaction.end > met_end_, "a start meets {} at {}:{}, and was at {}:{}",
                transaction.gtid.to_string(), transaction.end.file, transaction.end.offset, met_end_.file,
                met_end_.offset);
  COMMITD_CHECK(transaction.end <= durable_end_, "a start meets {} behind the log's end",
                transaction.gtid.to_string());
  met_end_ = transaction.end;
}

void Order::found(const PendingTransaction& transaction) {
  met(transaction);
  add_pending(transaction);
}

void Order::replaying(std::span<const PendingTransaction> batch) {
  COMMITD_CHECK(pending_.empty(), "a start applies {} in front of which {} transactions wait",
                batch.front().gtid.to_string(), pending_.size());
  for (const PendingTransaction& transaction : batch) {
    met(transaction);
    COMMITD_CHECK(transaction.end <= acknowledged_end_, "a start applies {}, which is not acknowledged",
                  transaction.gtid.to_string());
    pending_bytes_ += transaction.size();
  }
  in_engine_ += batch.size();
}

void Order::written(LogPosition end, uint64_t next_gno) {
  COMMITD_CHECK(end >= written_end_, "the log went back from {}:{} to {}:{}", written_end_.file,
                written_end_.offset, end.file, end.offset);
  written_end_ = end;
  next_gno_ = std::max(next_gno_, next_gno);
}

void Order::durable(std::span<const PendingTransaction> group, LogPosition end) {
  for (const PendingTransaction& transaction : group) {
    if (!transaction.gtid.empty()) {
      COMMITD_CHECK(!logged_.contains(transaction.gtid), "{} names two transactions",
                    transaction.gtid.to_string());
      COMMITD_CHECK(transaction.gtid.sid != own_ || transaction.gtid.gno < next_gno_,
                    "{} may be given again: the next number is {}", transaction.gtid.to_string(), next_gno_);
      logged_.add(transaction.gtid);
    }
    if (transaction.epoch != 0) last_log_epoch_ = transaction.epoch;
    add_pending(transaction);
  }
  durable_end_ = end;
  check();
  if (gate_ == Gate::Immediate) acknowledge(durable_end_);
  if (acknowledged_ahead_.empty()) return;
  for (const PendingTransaction& transaction : group) {
    if (acknowledged_ahead_.erase(transaction.gtid) != 0) acknowledge(transaction.end);
  }
}

void Order::leave_log(LogPosition end) {
  written_end_ = durable_end_ = end;
  if (gate_ == Gate::Immediate) acknowledge(end);
}

void Order::set_gate(Gate gate) {
  gate_ = gate;
  if (gate_ == Gate::Immediate) acknowledge(durable_end_);
}

// One that is never shipped follows what stands in front of it.
void Order::acknowledge(LogPosition up_to) {
  acknowledged_end_ = std::max(acknowledged_end_, std::min(up_to, durable_end_));
  while (!shown_.empty() && (shown_.front().end <= acknowledged_end_ || shown_.front().gtid.empty())) {
    acknowledged_end_ = std::max(acknowledged_end_, shown_.front().end);
    if (shown_.front().local != nullptr) answerable_.push_back(shown_.front().local);
    shown_.pop_front();
  }
}

void Order::acknowledge_through(const Gtid& gtid) {
  // The newest is what is asked for most.
  const auto acknowledge_in = [&](const std::deque<PendingTransaction>& transactions) {
    const auto named = [&gtid](const PendingTransaction& transaction) { return transaction.gtid == gtid; };
    const auto found = std::find_if(transactions.rbegin(), transactions.rend(), named);
    if (found != transactions.rend()) acknowledge(found->end);
  };
  if (executed_.contains(gtid)) return acknowledge_in(shown_);
  if (logged_.contains(gtid)) return acknowledge_in(pending_);
  acknowledged_ahead_.insert(gtid);
}

// What an earlier epoch has left, and an epoch transaction, nobody is told of as his own commit: that is
// shown when enough hold it.
bool Order::may_be_shown_first(const PendingTransaction& transaction) const {
  return gate_ == Gate::ShownFirst && transaction.local != nullptr && transaction.epoch == 0;
}

bool Order::front_may_be_taken() const {
  if (pending_.empty() || failure_ || apply_error_ || engine_frozen_) return false;
  if (apply_limit_ && pending_.front().end > *apply_limit_) return false;
  const PendingTransaction& front = pending_.front();
  // A transaction that is never shipped can be acknowledged by nobody: it follows what stands in front of it.
  return front.end <= acknowledged_end_ || (front.gtid.empty() && !has_shown()) || may_be_shown_first(front);
}

std::vector<PendingTransaction> Order::take(size_t most) {
  std::vector<PendingTransaction> batch;
  if (in_engine_ != 0) return batch;
  while (batch.size() < most && front_may_be_taken()) {
    PendingTransaction& next = batch.emplace_back(pending_.front());
    pending_.pop_front();
    next.shown_early = next.end > acknowledged_end_ && (!next.gtid.empty() || has_shown());
    if (next.shown_early) {
      ++taken_early_;
    } else {
      acknowledge(next.end);
    }
  }
  in_engine_ = batch.size();
  return batch;
}

void Order::count_out(std::span<const PendingTransaction> transactions) {
  COMMITD_CHECK(transactions.size() <= in_engine_, "{} transactions applied, {} taken", transactions.size(),
                in_engine_);
  in_engine_ -= transactions.size();
  for (const PendingTransaction& transaction : transactions) pending_bytes_ -= transaction.size();
}

void Order::applied(std::span<const PendingTransaction> transactions, const storage::EnginePlace& place) {
  for (const PendingTransaction& transaction : transactions) {
    COMMITD_CHECK(transaction.end <= acknowledged_end_ || transaction.shown_early,
                  "{} is in the engine, and not acknowledged", transaction.gtid.to_string());
    if (!transaction.gtid.empty()) executed_.add(transaction.gtid);
    if (transaction.shown_early) --taken_early_;
    if (transaction.end <= acknowledged_end_) continue;
    if (transaction.gtid.empty() && shown_.empty()) {
      acknowledge(transaction.end);
    } else {
      shown_.push_back(transaction);
    }
  }
  count_out(transactions);
  applied_end_ = place.position;
  applied_epoch_ = place.epoch;
  check();
}

void Order::applied_alone(const Gtid& gtid, LogPosition end, LogPosition point) {
  COMMITD_CHECK(end <= acknowledged_end_, "{} is in the engine, and not acknowledged", gtid.to_string());
  executed_.add(gtid);
  applied_end_ = std::max(applied_end_, point);
  check();
}

void Order::all_applied(std::span<const PendingTransaction> transactions) {
  count_out(transactions);
}

void Order::engine_is_at(LogPosition end) {
  COMMITD_CHECK(is_idle(), "{} transactions are not applied", unapplied());
  applied_end_ = end;
  check();
}

void Order::abandon_taken() {
  in_engine_ = taken_early_ = 0;
}

void Order::stop_applying(std::span<const PendingTransaction> rest, Error why, Stop kind) {
  COMMITD_CHECK(rest.size() == in_engine_, "{} transactions come back, {} were taken", rest.size(),
                in_engine_);
  pending_.insert(pending_.begin(), rest.begin(), rest.end());
  in_engine_ = taken_early_ = 0;
  apply_error_ = std::move(why);
  stop_ = kind;
}

bool Order::skip_unappliable(const Gtid& gtid) {
  if (!apply_error_ || waits_for_room() || pending_.empty() || pending_.front().gtid != gtid) return false;
  pending_.front().skipped = true;
  apply_error_.reset();
  return true;
}

bool Order::try_frozen() {
  if (failure_) return true;
  const auto is_local = [](const PendingTransaction& transaction) { return transaction.local != nullptr; };
  if (!engine_frozen_ && std::any_of(pending_.begin(), pending_.end(), is_local)) return false;
  engine_frozen_ = true;
  return in_engine_ == 0;
}

void Order::thaw() {
  COMMITD_CHECK(freezes_ > 0, "thawed more often than frozen");
  if (--freezes_ == 0) engine_frozen_ = false;
}

bool Order::fail(const Error& why) {
  if (failure_) return false;
  failure_ = why;
  return true;
}

std::vector<LocalCommit*> Order::detach_waiters() {
  std::vector<LocalCommit*> detached;
  for (PendingTransaction& transaction : pending_) {
    if (transaction.local == nullptr) continue;
    detached.push_back(std::exchange(transaction.local, nullptr));
    detached_end_ = transaction.end;
  }
  return detached;
}

std::vector<LocalCommit*> Order::detach_shown() {
  COMMITD_CHECK(taken_early_ == 0, "{} transactions are on their way into the engine", taken_early_);
  std::vector<LocalCommit*> detached;
  for (PendingTransaction& transaction : shown_) {
    if (transaction.local != nullptr) detached.push_back(std::exchange(transaction.local, nullptr));
  }
  return detached;
}

Result<std::optional<LogPosition>> Order::plan_cut(const GtidSet& keep) const {
  if (!keep.contains(executed_)) {
    GtidSet surplus = executed_;
    surplus.subtract(keep);
    return make_error(er::kDiverged, "This server has applied transactions that its source does not have: {}",
                      surplus.to_string());
  }
  const auto first = std::find_if(pending_.begin(), pending_.end(), [&](const PendingTransaction& one) {
    return !one.gtid.empty() && !keep.contains(one.gtid);
  });
  if (first == pending_.end()) return std::optional<LogPosition>();
  // What is acknowledged may wait for the engine for long: the applier may have stopped, or be frozen.
  if (first->end <= acknowledged_end_) {
    return make_error(
        er::kDiverged,
        "This server knows that transaction {} was acknowledged, and its source does not have it",
        first->gtid.to_string());
  }
  const LogPosition before = first == pending_.begin() ? applied_end_ : std::prev(first)->end;
  return std::optional(before.file == first->start.file ? before : first->start);
}

std::vector<PendingTransaction> Order::cut(LogPosition position, LogPosition log_end) {
  COMMITD_CHECK(in_engine_ == 0, "{} transactions are on their way into the engine", in_engine_);
  const auto behind = [&](const PendingTransaction& one) { return one.end > position; };
  const auto first = std::find_if(pending_.begin(), pending_.end(), behind);
  std::vector<PendingTransaction> gone(first, pending_.end());
  for (const PendingTransaction& transaction : gone) {
    COMMITD_CHECK(transaction.end > acknowledged_end_, "{} is cut, and acknowledged",
                  transaction.gtid.to_string());
    if (!transaction.gtid.empty())
      logged_.subtract_interval(transaction.gtid.sid, transaction.gtid.gno, transaction.gtid.gno + 1);
    pending_bytes_ -= transaction.size();
  }
  pending_.erase(first, pending_.end());
  written_end_ = durable_end_ = log_end;
  detached_end_ = std::min(detached_end_, log_end);
  acknowledged_end_ = std::min(acknowledged_end_, durable_end_);
  acknowledged_ahead_.clear();
  last_log_epoch_ = applied_epoch_;
  for (const PendingTransaction& transaction : pending_)
    last_log_epoch_ = std::max(last_log_epoch_, transaction.epoch);
  check();
  return gone;
}

void Order::place_all_at(LogPosition end) {
  COMMITD_CHECK(is_idle(), "{} transactions are not applied", unapplied());
  written_end_ = durable_end_ = acknowledged_end_ = applied_end_ = detached_end_ = end;
  shown_.clear();
}

void Order::restart(LogPosition log_end) {
  place_all_at(log_end);
  executed_ = logged_ = {};
  applied_epoch_ = last_log_epoch_ = 0;
  acknowledged_ahead_.clear();
  next_gno_ = 1;
}

const PendingTransaction* Order::oldest_unacknowledged() const {
  if (!shown_.empty()) return &shown_.front();
  const auto acknowledged = [this](const PendingTransaction& one) { return one.end <= acknowledged_end_; };
  const auto oldest = std::partition_point(pending_.begin(), pending_.end(), acknowledged);
  return oldest == pending_.end() ? nullptr : &*oldest;
}

LogPosition Order::visible_end() const {
  return is_idle() ? std::max(applied_end_, acknowledged_end_) : applied_end_;
}

}  // namespace commitd::binlog

// What a person says of replication outside of clusters: CHANGE REPLICATION SOURCE TO; START, STOP and RESET
// REPLICA.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error_codes.h"
#include "base/replication_error_codes.h"
#include "replication/commit_time.h"
#include "replication/role_manager.h"

namespace commitd::replication {
namespace {

using binlog::CommitPipeline;

Error receiver_must_stop() {
  return make_error(er::kReplicaChannelIoThreadMustStop,
                    "This operation cannot be performed with a running replica io thread; run STOP REPLICA "
                    "IO_THREAD FOR CHANNEL '' first.");
}

Error applier_must_stop() {
  return make_error(er::kReplicaChannelSqlThreadMustStop,
                    "This operation cannot be performed with a running replica sql thread; run STOP REPLICA "
                    "SQL_THREAD FOR CHANNEL '' first");
}

// The delay is the applier's, all else the receiver's.
Status check_threads(const RoleState& now, const sql::FollowTarget& next) {
  const bool other_delay = next.options.delay != now.source.options.delay;
  sql::FollowTarget rest = next;
  rest.options.delay = now.source.options.delay;
  if (now.start_replica && !(other_delay && rest == now.source)) return receiver_must_stop();
  if (now.start_applier && other_delay) return applier_must_stop();
  return {};
}

Status check_until(const sql::ApplyUntil& until, const sql::SourceOptions& options) {
  const bool names_gtids =
      until.kind == sql::ApplyUntil::Kind::BeforeGtids || until.kind == sql::ApplyUntil::Kind::AfterGtids;
  if (!names_gtids || !options.assigns_gtids()) return {};
  return make_error(
      er::kCantSetSqlAfterOrBeforeGtidsWithAnonymousToGtid,
      "The SQL_AFTER_GTIDS or SQL_BEFORE_GTIDS clauses for START REPLICA cannot be used when the "
      "replication channel is configured with ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS = "
      "LOCAL|<UUID>.");
}

}  // namespace

ApplyRule RoleManager::rule_of(const RoleState& state) const {
  if (state.apply_held) return {.held = true};
  if (!state.start_applier) return {};
  MutexLock lock(mutex_);
  return {.delay = std::chrono::seconds(state.source.options.delay), .until = until_};
}

ApplyRule RoleManager::apply_rule() const {
  return starts_undecided() ? ApplyRule{} : rule_of(state());
}

// What is acknowledged was due, or is held back since; what was visible stays so.
std::optional<LogPosition> RoleManager::apply_limit(LogPosition acknowledged) const {
  if (starts_undecided()) return acknowledged;
  const ApplyRule rule = apply_rule();
  if (rule == ApplyRule{}) return std::nullopt;
  const LogPosition applied_to = state().applied_to;
  return rule.held ? applied_to : std::max(applied_to, acknowledged);
}

Task<Status> RoleManager::change_source(SourceChange change) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_no_epoch());
  const RoleState now = at_present_stand(state());
  RoleState next = now;
  COMMITD_CO_RETURN_IF_ERROR(change(next.source));
  COMMITD_CO_RETURN_IF_ERROR(check_threads(now, next.source));
  if (!now.start_replica) begin_place_series(next);
  COMMITD_CO_RETURN_IF_ERROR(pipeline_.load()->sync());  // what the place stands on
  COMMITD_CO_RETURN_IF_ERROR(save(next));
  if (!now.start_replica) gate_->begin_places(next.place_series, next.stand());
  MutexLock lock(mutex_);
  source_ = state_.source;
  co_return Status{};
}

sql::ReplicationFilter RoleManager::filter() const {
  MutexLock lock(mutex_);
  return filter_;
}

// A member acknowledges what it holds, and may become the master: it holds everything, and others read it
// there.
Status RoleManager::require_whole_log() const {
  if (!context_.log_replica_updates) {
    return make_error(
        er::kOptionPreventsStatement,
        "This server runs with --log-replica-updates=OFF, and a member of a cluster must have everything in "
        "its binary log: start it without that option");
  }
  if (filter().empty()) return {};
  return make_error(
      er::kOptionPreventsStatement,
      "This server has replication filters, and a member of a cluster must hold everything: start "
      "it without --replicate-… options, and end those of CHANGE REPLICATION FILTER by ()");
}

// Not kept over a restart, as in MySQL: that takes the options.
Task<Status> RoleManager::change_filter(std::function<void(sql::ReplicationFilter&)> change,
                                        std::vector<std::string> rules) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_no_epoch());
  const RoleState now = state();
  if (now.start_applier) co_return applier_must_stop();
  if (now.start_replica) co_return receiver_must_stop();  // what is received is filtered before it is logged
  MutexLock lock(mutex_);
  change(filter_);
  for (const std::string& rule : rules) filter_record_->set_by_statement(rule, now_microseconds());
  co_return Status{};
}

Task<Result<bool>> RoleManager::start_replica(sql::ReplicaThreads threads,
                                              std::optional<sql::ApplyUntil> until) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_log());
  COMMITD_CO_RETURN_IF_ERROR(require_no_epoch());
  CommitPipeline& pipeline = *pipeline_.load();
  RoleState next = state();
  if (next.source.host.empty()) {
    co_return make_error(er::kBadReplica,
                         "The server is not configured as replica; fix with CHANGE REPLICATION SOURCE TO");
  }
  const bool applier_begins = threads.applier && !next.start_applier;
  if (until) COMMITD_CO_RETURN_IF_ERROR(check_until(*until, next.source.options));
  const bool was_replica = role() == Role::Replica;
  const bool receives = was_replica && receiver_.report().state != ReceiverState::Off;
  if (!was_replica) close_as_replica();
  next.start_replica |= threads.receiver;
  next.start_applier |= threads.applier;
  next.apply_held = !next.start_applier;
  next.applied_to = std::max(next.applied_to, pipeline.applied_end());
  if (auto saved = save(next); !saved.ok()) {
    if (!was_replica) serve_standalone();
    co_return std::move(saved).error();
  }
  if (applier_begins) {
    MutexLock lock(mutex_);
    until_ = std::move(until);
    ++applier_starts_;
    if (until_) context_.reactor->spawn(stop_applier_at_until(this, applier_starts_));
  }
  co_await gate_->set(apply_rule());
  if (threads.applier) pipeline.retry_apply();
  if (!threads.receiver || receives) co_return applier_begins;
  co_await receiver_.stop();  // one that has given up
  serve_as_replica({next.source, std::nullopt});
  co_return applier_begins;
}

// As STOP REPLICA SQL_THREAD would, when what START REPLICA UNTIL names is reached: nothing is let through
// any more by then.
Task<void> RoleManager::stop_applier_at_until(RoleManager* self, uint64_t applier_start) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  const auto runs = [self, applier_start] {
    MutexLock lock(self->mutex_);
    return self->applier_starts_ == applier_start && self->state_.start_applier && self->state_.epoch == 0;
  };
  while (!self->gate_->until_is_reached()) {
    if (!runs()) co_return;
    co_await sleep_until(Clock::now() + kLook);
  }
  const auto stopped = co_await self->stop_threads_if(runs, {.receiver = false, .applier = true});
  if (!stopped.ok())
    spdlog::error("START REPLICA UNTIL is reached, and the applier waits: {}", stopped.error().message);
}

// Of the applier alone, and with a delay, it ends where it is. Else what was received is applied first: it is
// in the log, and nobody writes behind what is not applied.
Task<Status> RoleManager::stop_replica(sql::ReplicaThreads threads) {
  co_return co_await stop_threads_if([] { return true; }, threads);
}

Task<Status> RoleManager::stop_threads_if(std::function<bool()> still, sql::ReplicaThreads threads) {
  AsyncMutex::Guard guard = co_await control_.lock();
  if (!still()) co_return Status{};
  COMMITD_CO_RETURN_IF_ERROR(require_no_epoch());
  if (role() != Role::Replica) co_return Status{};
  RoleState next = state();
  if (threads.receiver) next.start_replica = false;
  if (threads.applier && next.start_applier) {
    next.apply_held = !threads.receiver || rule_of(next).waits();
    next.start_applier = false;
  }
  const bool is_over = !next.start_replica && !next.start_applier;
  co_await gate_->set(rule_of(next));
  next.applied_to = std::max(next.applied_to, pipeline_.load()->applied_end());
  if (auto saved = save(std::move(next)); !saved.ok()) {
    co_await gate_->set(apply_rule());
    co_return saved;
  }
  if (threads.receiver) {
    co_await receiver_.stop();
    COMMITD_CO_RETURN_IF_ERROR(settle_stand());
  }
  if (!is_over) co_return Status{};
  COMMITD_CO_RETURN_IF_ERROR(let_go_if_nothing_waits());
  co_await gate_->set(apply_rule());
  serve_standalone();
  const uint64_t standalone = role_generation();
  { AsyncMutex::Guard leave = std::move(guard); }
  co_await wait_until_open(standalone);
  co_return Status{};
}

// Before anything local is committed: a start would take it for what is held back.
Status RoleManager::let_go_if_nothing_waits() {
  RoleState next = state();
  if (!next.apply_held || next.start_replica || pipeline_.load()->unapplied_transactions() > 0) return {};
  next.apply_held = false;
  return save(std::move(next));
}

// What waits for the applier is cut off the log, as MySQL deletes its relay log; the source has it. Readers
// have not got it: it is not acknowledged.
Task<Status> RoleManager::reset_replica(bool all) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_no_epoch());
  if (role() != Role::Standalone) {
    co_return make_error(er::kReplicaChannelMustStop,
                         "This operation cannot be performed with running replication threads; run STOP "
                         "REPLICA FOR CHANNEL '' first");
  }
  if (gate_->rule().held) {
    COMMITD_CO_RETURN_IF_ERROR(co_await give_up_received());
  } else if (!writable_) {
    co_return check_writable();
  }
  RoleState next = state();
  if (all) next.source = unknown_source();
  begin_place_series(next);
  SourceStand first;
  first.as_of = next.stand_as_of;
  next.set_stand(first);
  COMMITD_CO_RETURN_IF_ERROR(save(next));
  gate_->begin_places(next.place_series, next.stand());
  MutexLock lock(mutex_);
  source_ = state_.source;
  co_return Status{};
}

Task<Status> RoleManager::give_up_received() {
  CommitPipeline& pipeline = *pipeline_.load();
  GtidSet keep = pipeline.gtid_logged();
  auto waiting = gate_->received_behind(pipeline.acknowledged_end());
  if (!waiting) co_return std::move(waiting).error();
  keep.subtract(*waiting);
  // A number of our own that came back is not given again.
  const uint64_t floor = pipeline.next_gno() - 1;
  COMMITD_CO_RETURN_IF_ERROR(save_gno_floor(floor));
  pipeline.raise_gno_floor(floor);
  auto cut = pipeline.cut_unacknowledged(keep);
  if (!cut) co_return std::move(cut).error();
  gate_->log_was_cut();
  if (*cut > 0) spdlog::warn("RESET REPLICA: {} received transactions are given up", *cut);
  RoleState next = state();
  next.apply_held = false;
  COMMITD_CO_RETURN_IF_ERROR(save(std::move(next)));
  co_await gate_->set(apply_rule());
  serve_standalone();
  co_return Status{};
}

// RESET BINARY LOGS AND GTIDS: places in the log that goes mean nothing in the next one.
Status RoleManager::forget_applied_to() {
  RoleState next = at_present_stand(state());
  if (next.applied_to == LogPosition() && next.source.host.empty()) return {};
  next.applied_to = {};
  begin_place_series(next);
  next.stand_as_of = {};
  return save(std::move(next));
}

// STOP REPLICA; not for ever, since an applier that has stopped keeps the server closed.
Task<void> RoleManager::wait_until_open(uint64_t generation) {
  constexpr auto kLook = std::chrono::milliseconds(20);
  CommitPipeline& pipeline = *pipeline_.load();
  while (!writable_ && role_generation() == generation && !pipeline.apply_error() && !pipeline.failure() &&
         !gate_->rule().held)
    co_await sleep_until(Clock::now() + kLook);
}

}  // namespace commitd::replication

// The log thread: everything that is queued becomes one group, one write, one sync.
#include <spdlog/spdlog.h>

#include <utility>

#include "base/defects.h"
#include "base/error_codes.h"
#include "binlog/spilled_events.h"
#include "commit/commit_group.h"
#include "commit/time_of_day.h"

namespace commitd::binlog {
namespace {

constexpr std::chrono::milliseconds kRestAfterFullDisk{1000};

void count_group(size_t transactions) {
  static auto& groups = observe::counter("commitd_commit_groups_total", "Commit groups flushed.");
  static auto& grouped =
      observe::counter("commitd_commit_group_transactions_total", "Transactions in flushed commit groups.");
  groups.add();
  grouped.add(transactions);
}

Error outcome_unknown(const Error& failed) {
  return make_error(failed.code, "{}. Whether the transaction survives is known after a restart",
                    failed.message);
}

Error too_large_without_log() {
  return make_error(er::kTransCacheFull,
                    "The transaction is in a temporary file, and binary logging was turned off meanwhile: "
                    "execute it again");
}

void observe_since(observe::Histogram& histogram, Clock::time_point start, Clock::time_point end) {
  histogram.observe_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

}  // namespace

void CommitPipeline::Impl::run_log_thread() {
  while (auto batch = queue.take([this] { return gathering(); })) {
    std::vector<LogTask*> tasks = std::move(batch->tasks);
    if (!batch->local.empty() || !batch->received.empty()) write_batch(std::move(*batch));
    for (LogTask* task : tasks) {
      task->result = task->run();
      task->parker.wake();
    }
    if (logging && log->usable() && log->wants_rotation())
      (void)rotate_log(log->kind());  // without room for a new file the old one goes on
  }
}

bool CommitPipeline::Impl::next_group_is_synced() const {
  const uint64_t period = options.settings->sync_binlog;
  return period != 0 && written_groups_ + 1 - synced_groups_ >= period;
}

// The delay makes syncs fewer: as in MySQL, it is for every group when sync_binlog is 0, and otherwise for
// those that are synced.
CommitQueue::Gathering CommitPipeline::Impl::gathering() const {
  const CommitSettings& settings = *options.settings;
  CommitQueue::Gathering how;
  how.one_at_a_time = settings.one_at_a_time;
  if (!how.one_at_a_time && (settings.sync_binlog == 0 || next_group_is_synced())) {
    how.time = std::chrono::microseconds(settings.sync_delay_microseconds.load());
    how.enough = settings.sync_no_delay_count;
    how.for_others = settings.wait_for_others && settings.sync_binlog != 0 && how.time.count() == 0;
  }
  return how;
}

Status CommitPipeline::Impl::sync_log() {
  Status synced;
  {
    MutexLock lock(sync_mutex);
    const uint64_t written = written_groups_;
    if (!logging || written == synced_groups_) return {};
    synced = log->sync();
    if (synced.ok()) synced_groups_ = written;
  }
  if (synced.ok() || leave_failed_log(synced.error())) return {};
  fail(outcome_unknown(synced.error()));
  return synced;
}

// What goes into different files cannot be one group.
void CommitPipeline::Impl::write_batch(CommitQueue::Batch batch) {
  if (!options.log_replica_updates && !batch.received.empty() && !batch.local.empty()) [[unlikely]] {
    CommitQueue::Batch received;
    received.received = std::exchange(batch.received, {});
    write_group(std::move(received));
  }
  write_group(std::move(batch));
}

LogKind CommitPipeline::Impl::kind_of(const CommitQueue::Batch& batch) const {
  return options.log_replica_updates || batch.received.empty() ? LogKind::Binary : LogKind::Relay;
}

void CommitPipeline::Impl::write_group(CommitQueue::Batch batch) {
  Group group;
  group.batch = std::move(batch);
  std::optional<Error> failed;
  std::vector<Refused> refused;
  {
    MutexLock lock(mutex);
    failed = order.failure();
    if (!failed) refused = number(group);
  }
  if (failed) return refuse(group.batch.local, *failed);
  for (const auto& [commit, why] : refused) refuse(std::span(&commit, 1), why);
  const auto taken = Clock::now();
  for (LocalCommit* commit : group.batch.local) {
    commit->taken = taken;
    observe_since(stage_seconds("queue"), commit->queued, taken);
  }
  group.destination = destination();
  if (fill(group) && prepare(group) && write_and_sync(group)) group_is_durable(group);
}

Destination CommitPipeline::Impl::destination() const {
  if (!logging) return Destination::Unlogged;
  return engine.has_own_log() ? Destination::Prepared : Destination::Logged;
}

bool CommitPipeline::Impl::leave_failed_log(Group& group, const Error& why) {
  if (!leave_failed_log(why)) return false;
  group.destination = Destination::Unlogged;
  return true;
}

bool CommitPipeline::Impl::fill(Group& group) {
  if (group.destination != Destination::Unlogged && !make_room(group.batch)) {
    const Error no_room = make_error(er::kDiskFull, "Cannot start a new binary log file");
    if (!leave_failed_log(group, no_room)) {
      group_failed(group, no_room);
      return false;
    }
  }
  if (group.destination == Destination::Unlogged) {
    fill_group_without_log(group);
  } else {
    fill_group(group);
  }
  if (!group.invalid) return true;
  fail(*group.invalid);
  group_failed(group, *group.invalid);
  return false;
}

// xa: the engine has the group before the binlog does. A DDL is not prepared: what it publishes is made from
// its event.
bool CommitPipeline::Impl::prepare(Group& group) {
  if (group.destination != Destination::Prepared) return true;
  std::vector<storage::PreparedTransaction> prepared;
  for (const PendingTransaction& transaction : group.transactions) {
    if (transaction.local == nullptr || transaction.local->prepared.empty() || transaction.gtid.empty())
      continue;
    prepared.push_back({transaction.gtid, std::move(transaction.local->prepared)});
    transaction.local->is_prepared = true;
  }
  auto done = engine.prepare_ordered(prepared);
  if (done.ok()) return true;
  if (done.error().code != er::kDiskFull) fail(done.error());
  refuse_group(group, done.error());
  return false;
}

// True when the file is the right one and the whole batch fits it; if need be a new one is begun.
bool CommitPipeline::Impl::make_room(const CommitQueue::Batch& batch) {
  uint64_t bytes = 1 << 20;
  for (const LocalCommit* commit : batch.local) bytes += commit->request->events->size() + 256;
  for (const ReceivedTransaction& received : batch.received) bytes += received.events.size();
  const LogKind kind = kind_of(batch);
  return (log->kind() == kind && !log->would_overflow(bytes)) || rotate_log(kind).ok();
}

bool CommitPipeline::Impl::write_and_sync(Group& group) {
  if (group.transactions.empty() || group.destination == Destination::Unlogged) return true;
  const auto start = Clock::now();
  const bool to_be_synced = next_group_is_synced();
  auto written = append(group);
  if (!written.ok()) {
    if (!needs_log(group) && leave_failed_log(group, written.error())) return true;
    if (!log->usable()) fail(written.error());
    group_failed(group, written.error());
    return false;
  }
  const auto flushed = Clock::now();
  observe_since(stage_seconds("flush"), start, flushed);
  {
    MutexLock lock(mutex);
    order.written(log->end(), group.next_gno);
  }
  ++written_groups_;
  const bool observed = options.observer != nullptr && options.observer->observes();
  if (observed) options.observer->flushed(log->file_name(log->end().file), log->end());
  if (!to_be_synced || has_defect("acknowledge-before-sync")) return true;
  if (auto synced = sync_log(); !synced.ok()) {
    group_failed(group, outcome_unknown(synced.error()));
    return false;
  }
  observe_since(stage_seconds("sync"), flushed, Clock::now());
  if (observed) options.observer->synced(log->file_name(log->end().file), log->end());
  return true;
}

Status CommitPipeline::Impl::append(Group& group) {
  std::unique_lock lock(log_lock, std::defer_lock);
  if (options.settings->readers_take_log_lock || options.settings->applier_takes_log_lock) lock.lock();
  return group.spilled != nullptr ? append_spilled(group) : log->append(std::move(group.bytes));
}

// In bounded parts: all of it or, on failure, nothing.
Status CommitPipeline::Impl::append_spilled(const Group& group) {
  const LogPosition start = log->end();
  const LogPosition transaction_end = group.transactions.front().end;
  const size_t behind = transaction_end.offset - start.offset - group.bytes->size();
  SpilledEvents events(*group.spilled, group.spilled->size() - behind, transaction_end.offset - behind);
  Status written = log->append_part(*group.bytes, false);
  while (written.ok() && !events.done()) {
    const auto part = events.next();
    written = part.ok() ? log->append_part(*part, events.done()) : Status(part.error());
    // What was received is damaged, or cannot be read back: to try again would not help.
    if (!part.ok() && !group.batch.received.empty()) fail(written.error());
  }
  if (written.ok()) return written;
  if (auto taken_back = cut_log(start); !taken_back.ok()) fail(taken_back.error());
  return written;
}

// Nothing of the group is in the log: local transactions fail, received ones are tried again.
void CommitPipeline::Impl::group_failed(Group& group, const Error& error) {
  if (group.destination == Destination::Prepared && log->usable()) roll_back_prepared(group);
  refuse_group(group, error);
}

void CommitPipeline::Impl::refuse_group(Group& group, const Error& error) {
  for (LocalCommit* commit : group.batch.local) commit->request->gtid = {};
  refuse(group.batch.local, error);
  if (group.batch.received.empty() || !log->usable()) return;
  note_received_waits(error);
  queue.put_back(std::move(group.batch.received), kRestAfterFullDisk);
}

// Told once, however often they are tried.
void CommitPipeline::Impl::note_received_waits(const std::optional<Error>& why) {
  {
    MutexLock lock(mutex);
    if (received_waits.has_value() == why.has_value()) return;
    received_waits = why ? std::optional(ReceivedWaits{*why, now_microseconds()}) : std::nullopt;
    any_received_waits = why.has_value();
  }
  if (why) {
    spdlog::error("what is received waits for room in the log: {}", why->message);
  } else {
    spdlog::info("what is received goes into the log again");
  }
}

void CommitPipeline::Impl::roll_back_prepared(const Group& group) {
  std::vector<Gtid> prepared;
  for (const PendingTransaction& transaction : group.transactions) {
    if (transaction.local != nullptr && !transaction.gtid.empty()) prepared.push_back(transaction.gtid);
  }
  if (auto done = engine.rollback(prepared); !done.ok()) fail(done.error());
}

void CommitPipeline::Impl::group_is_durable(Group& group) {
  const auto now = Clock::now();
  queue.batch_is_durable(now);
  LogPosition end;
  std::vector<PendingTransaction> for_engine;
  bool large_without_log = false, engine_thread_has_work = false;
  {
    MutexLock lock(mutex);
    // A sync for somebody else may have failed meanwhile.
    if (!logging) group.destination = Destination::Unlogged;
    large_without_log = group.destination == Destination::Unlogged && needs_log(group);
    if (!large_without_log) {
      take_durable(group, now);
      end = order.durable_end();
      if (log_thread_may_apply()) for_engine = take_acknowledged();
      engine_thread_has_work = order.can_take();
    }
  }
  if (large_without_log) return group_failed(group, too_large_without_log());
  if (engine_thread_has_work) engine_work.notify_one();
  if (!for_engine.empty()) take_into_engine(for_engine);
  // From here on local commits may already be answered and gone.
  report_received(group, end);
}

// Before anybody can be answered: who has his answer finds his group counted.
void CommitPipeline::Impl::take_durable(Group& group, Clock::time_point now) {
  if (!group.transactions.empty()) {
    ++group_number_;
    count_group(group.transactions.size());
  }
  const bool in_log = group.destination != Destination::Unlogged;
  const LogPosition end = in_log ? log->end() : order.durable_end();
  for (PendingTransaction& transaction : group.transactions) {
    transaction.durable_at = now;
    if (!in_log) transaction.start = transaction.end = end;  // in order, since places no longer differ
    if (transaction.local == nullptr) continue;
    if (!in_log) transaction.local->is_prepared = false;
    transaction.local->durable = now;
    transaction.local->request->end = transaction.end;
  }
  if (!in_log) order.written(end, group.next_gno);
  order.durable(group.transactions, end);
  tell_progress();
  adjust_hold();
}

void CommitPipeline::Impl::report_received(Group& group, LogPosition end) {
  if (any_received_waits && !group.received.empty()) note_received_waits(std::nullopt);
  for (auto& [index, on_durable] : group.received) {
    if (on_durable) on_durable(group.transactions[index].end);
  }
  for (auto& on_durable : group.duplicates) {
    if (on_durable) on_durable(end);
  }
}

Status CommitPipeline::Impl::rotate_log(LogKind kind) {
  if (!logging) return {};
  GtidSet all;
  {
    MutexLock lock(mutex);
    all = order.logged();
  }
  Status rotated;
  {
    MutexLock lock(sync_mutex);
    rotated = log->rotate(all, kind);
    if (rotated.ok()) synced_groups_ = written_groups_.load();  // the file that was left is synced
  }
  if (!rotated.ok()) {
    if (!log->usable() && !leave_failed_log(rotated.error())) fail(rotated.error());
    return rotated;
  }
  clock_ = {};
  MutexLock lock(mutex);
  order.written(log->end(), order.next_gno());
  order.durable({}, log->end());
  tell_progress();
  wake_engine_thread();
  return {};
}

}  // namespace commitd::binlog

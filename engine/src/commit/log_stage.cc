// The log thread: everything that is queued becomes one group, one write, one sync.
#include <algorithm>
#include <ctime>

#include "base/error_codes.h"
#include "binlog/spilled_events.h"
#include "binlog/transaction_scanner.h"
#include "commit/pipeline_impl.h"

namespace commitd::binlog {
namespace {

constexpr uint16_t kErrorDuringCommit = 1180;
constexpr uint16_t kGnoExhausted = 1775;
constexpr std::chrono::milliseconds kRestAfterFullDisk{1000};

uint64_t now_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint64_t epoch_inside(std::string_view events) {
  uint64_t epoch = 0;
  while (!events.empty()) {
    auto event = parse_event(events);
    if (!event) break;
    if (auto of_event = epoch_of(*event)) epoch = *of_event;
    events.remove_prefix(event->bytes.size());
  }
  return epoch;
}

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

Error gtid_taken(const Gtid& gtid) {
  return make_error(kErrorDuringCommit,
                    "Another session has committed transaction {} meanwhile; this one was rolled back",
                    gtid.to_string());
}

Error gtid_too_low(const Gtid& gtid, uint64_t next) {
  return make_error(
      kErrorDuringCommit,
      "@@SESSION.GTID_NEXT is {}, a GTID of this server's own: their numbers only grow, the next "
      "one is {}",
      gtid.to_string(), next);
}

Error gno_exhausted() {
  return make_error(kGnoExhausted,
                    "Impossible to generate GTID: the integer component reached the maximum value. Restart "
                    "the server with a new server_uuid");
}

void observe_since(observe::Histogram& histogram, Clock::time_point start, Clock::time_point end) {
  histogram.observe_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

}  // namespace

struct CommitPipeline::Impl::Group {
  CommitQueue::Batch batch;
  std::shared_ptr<const std::string> bytes;
  const EventSpool* spilled = nullptr;  // the last of it stand behind `bytes`
  std::vector<PendingTransaction> transactions;
  std::vector<std::function<void(LogPosition)>> duplicates;  // already logged: only to be reported
  std::vector<std::pair<size_t, std::function<void(LogPosition)>>>
      received;  // index in transactions, callback
  std::optional<Error> invalid;
  uint64_t next_gno = 0;
  std::vector<std::pair<uint64_t, int64_t>> sequences;  // order, sequence number; ascending

  // The last of the group's transactions up to `order`; 0 when there is none.
  int64_t sequence_of(uint64_t order) const {
    const auto behind = std::upper_bound(sequences.begin(), sequences.end(), std::pair(order, INT64_MAX));
    return behind == sequences.begin() ? 0 : std::prev(behind)->second;
  }
};

void CommitPipeline::Impl::run_log_thread() {
  while (auto batch = queue.take([this] { return gathering(); })) {
    std::vector<Errand*> errands = std::move(batch->errands);
    if (!batch->local.empty() || !batch->received.empty()) write_group(std::move(*batch));
    for (Errand* errand : errands) {
      errand->result = errand->run();
      errand->parker.wake();
    }
    if (logging && log->usable() && log->wants_rotation())
      (void)rotate_log();  // without room for a new file the old one goes on
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
    how.for_company = settings.wait_for_company && settings.sync_binlog != 0 && how.time.count() == 0;
  }
  return how;
}

Status CommitPipeline::Impl::sync_log() {
  Status synced;
  {
    std::lock_guard lock(sync_mutex);
    const uint64_t written = written_groups_;
    if (!logging || written == synced_groups_) return {};
    synced = log->sync();
    if (synced.ok()) synced_groups_ = written;
  }
  if (synced.ok() || leave_failed_log(synced.error())) return {};
  fail(outcome_unknown(synced.error()));
  return synced;
}

void CommitPipeline::Impl::write_group(CommitQueue::Batch batch) {
  {
    std::unique_lock lock(mutex);
    if (failure) {
      const Error why = *failure;
      lock.unlock();
      return refuse(batch.local, why);
    }
  }
  Group group;
  group.batch = std::move(batch);
  refuse_without_gtid(group.batch);
  const auto taken = Clock::now();
  for (LocalCommit* commit : group.batch.local) {
    commit->taken = taken;
    observe_since(stage_seconds("queue"), commit->queued, taken);
  }
  if (logging && !make_room(group.batch)) {
    const Error no_room = make_error(er::kDiskFull, "Cannot start a new binary log file");
    if (!leave_failed_log(no_room)) return group_failed(group, no_room);
  }
  if (logging) {
    fill_group(group);
  } else {
    fill_group_without_log(group);
  }
  if (group.invalid) {
    fail(*group.invalid);
    return group_failed(group, *group.invalid);
  }
  if (prepare(group) && write_and_sync(group)) group_is_durable(group);
}

// Of those that come with a GTID (SET gtid_next); the others are given theirs in this order, too. A number of
// our own below what has been given may have named a transaction that was cut: it is not given again.
void CommitPipeline::Impl::refuse_without_gtid(CommitQueue::Batch& batch) {
  std::vector<LocalCommit*>& commits = batch.local;
  const auto brings_one = [](const LocalCommit* commit) { return !commit->request->gtid.empty(); };
  std::vector<std::pair<LocalCommit*, Error>> refused;
  {
    std::lock_guard lock(mutex);
    uint64_t next = next_gno;
    const bool numbers_are_left = commits.size() <= kMaxGno - std::min(next, kMaxGno);
    if (numbers_are_left && std::none_of(commits.begin(), commits.end(), brings_one)) return;
    GtidSet in_group;
    bool exhausted = false;
    const auto is_refused = [&](LocalCommit* commit) {
      const CommitRequest& request = *commit->request;
      // Those behind may have seen what one in front of them wrote.
      exhausted |= request.ship && request.gtid.empty() && next > kMaxGno;
      if (exhausted) {
        refused.emplace_back(commit, gno_exhausted());
        return true;
      }
      if (!request.ship) return false;
      if (request.gtid.empty()) {
        ++next;
        return false;
      }
      const bool own = request.gtid.sid == options.server_uuid;
      if (logged.contains(request.gtid) || in_group.contains(request.gtid)) {
        refused.emplace_back(commit, gtid_taken(request.gtid));
        return true;
      }
      if (own && request.gtid.gno < next) {
        refused.emplace_back(commit, gtid_too_low(request.gtid, next));
        return true;
      }
      in_group.add(request.gtid);
      if (own) next = request.gtid.gno + 1;
      return false;
    };
    std::erase_if(commits, is_refused);
  }
  for (const auto& [commit, why] : refused) refuse(std::span(&commit, 1), why);
}

// xa: the engine has the group before the binlog does. A DDL is not prepared: what it publishes is made from
// its event.
bool CommitPipeline::Impl::prepare(const Group& group) {
  if (!engine.has_own_log() || !logging) return true;
  std::vector<storage::PreparedTransaction> prepared;
  for (const PendingTransaction& transaction : group.transactions) {
    if (transaction.local == nullptr || transaction.local->prepared.empty() || transaction.gtid.empty())
      continue;
    prepared.push_back({transaction.gtid, std::move(transaction.local->prepared)});
    transaction.local->is_prepared = true;
  }
  auto done = engine.prepare_ordered(prepared);
  if (done.ok()) return true;
  fail(done.error());
  refuse(group.batch.local, done.error());
  return false;
}

// True when the whole batch fits the file, if need be a new one.
bool CommitPipeline::Impl::make_room(const CommitQueue::Batch& batch) {
  uint64_t bytes = 1 << 20;
  for (const LocalCommit* commit : batch.local) bytes += commit->request->events->size() + 256;
  for (const ReceivedTransaction& received : batch.received) bytes += received.events.size();
  return !log->would_overflow(bytes) || rotate_log().ok();
}

void CommitPipeline::Impl::fill_group(Group& group) {
  LogPosition acknowledged;
  std::vector<bool> known;
  {
    std::lock_guard lock(mutex);
    acknowledged = acknowledged_end;
    group.next_gno = next_gno;
    for (const ReceivedTransaction& received : group.batch.received)
      known.push_back(logged.contains(received.gtid));
  }
  const EventOrigin origin{options.server_id, static_cast<uint32_t>(std::time(nullptr))};
  const bool earlier_is_durable = written_groups_ == synced_groups_;
  GroupBuilder builder(log->end(), origin, clock_, {group_number_ + 1, acknowledged, earlier_is_durable});
  GtidSet in_group;
  for (size_t i = 0; i < group.batch.received.size(); ++i) {
    ReceivedTransaction& received = group.batch.received[i];
    if (known[i] || in_group.contains(received.gtid)) {
      group.duplicates.push_back(received.on_durable);
      continue;
    }
    const bool spilled = received.events.on_disk() != 0;
    auto placed = spilled ? builder.add_received_spilled(received.events)
                          : builder.add_received(received.events.tail());
    if (!placed) {
      group.invalid = std::move(placed).error();
      return;
    }
    in_group.add(received.gtid);
    if (spilled) group.spilled = &received.events;
    group.received.emplace_back(group.transactions.size(), received.on_durable);
    group.transactions.push_back({placed->start,
                                  placed->end,
                                  received.gtid,
                                  spilled ? 0 : epoch_inside(received.events.tail()),
                                  nullptr,
                                  {},
                                  true});
  }
  const uint64_t timestamp = now_microseconds();
  for (LocalCommit* commit : group.batch.local) add_local(group, builder, *commit, timestamp);
  group.bytes = builder.take();
}

void CommitPipeline::Impl::add_local(Group& group, GroupBuilder& builder, LocalCommit& commit,
                                     uint64_t timestamp) {
  CommitRequest& request = *commit.request;
  if (!request.ship) {
    const auto placed = builder.add_unshipped(*request.events);
    group.transactions.push_back({placed.start, placed.end, {}, 0, &commit, {}});
    return;
  }
  give_gtid(group, request);
  const auto placed =
      builder.add_local(*request.events, request.gtid, timestamp, group.sequence_of(request.seen.order));
  if (request.events->spilled()) group.spilled = &request.events->spool();
  group.transactions.push_back({placed.start, placed.end, request.gtid, request.epoch, &commit, {}});
  if (commit.ordered.order != 0) group.sequences.emplace_back(commit.ordered.order, clock_.sequence);
}

// A number of our own that comes back by replication may be above all that this log has ever given: a copy
// that was restored, or a log that a loss of power made shorter. It names a transaction all the same, from
// the moment it is heard of: others may be written before it.
void CommitPipeline::Impl::keep_number(const Gtid& received) {
  if (received.sid != options.server_uuid) return;
  std::lock_guard lock(mutex);
  next_gno = std::max(next_gno, received.gno + 1);
}

void CommitPipeline::Impl::give_gtid(Group& group, CommitRequest& request) const {
  if (request.gtid.empty()) {
    request.gtid = {options.server_uuid, group.next_gno++};
  } else if (request.gtid.sid == options.server_uuid) {
    group.next_gno = request.gtid.gno + 1;
  }
}

// Neither is let in without a log; one may have been on its way when that failed.
void CommitPipeline::Impl::fill_group_without_log(Group& group) {
  const auto of_epoch = [](const LocalCommit* commit) { return commit->request->epoch != 0; };
  if (!group.batch.received.empty() ||
      std::any_of(group.batch.local.begin(), group.batch.local.end(), of_epoch)) {
    group.invalid = make_error(er::kErrorOnWrite,
                               "Neither an epoch nor what was received can be committed without the log");
    return;
  }
  {
    std::lock_guard lock(mutex);
    group.next_gno = next_gno;
  }
  for (LocalCommit* commit : group.batch.local) {
    CommitRequest& request = *commit->request;
    if (request.ship) give_gtid(group, request);
    group.transactions.push_back({{}, {}, request.gtid, 0, commit, {}});
  }
}

// What is taken in parts could not be completed by a start without the log.
bool CommitPipeline::Impl::needs_log(const Group& group) {
  return std::any_of(group.batch.local.begin(), group.batch.local.end(), [](const LocalCommit* commit) {
    return commit->request->writes != nullptr && commit->request->writes->spilled();
  });
}

// In order, since places in the log can no longer tell them apart.
void CommitPipeline::Impl::move_out_of_log(Group& group) const {
  for (PendingTransaction& transaction : group.transactions) {
    transaction.start = transaction.end = left_at;
    transaction.local->is_prepared = false;
  }
}

bool CommitPipeline::Impl::write_and_sync(Group& group) {
  if (group.transactions.empty() || !logging) return true;
  const auto start = Clock::now();
  const bool to_be_synced = next_group_is_synced();
  auto written = group.spilled != nullptr ? append_spilled(group) : log->append(std::move(group.bytes));
  if (!written.ok()) {
    if (!needs_log(group) && leave_failed_log(written.error())) return true;
    if (!log->usable()) fail(written.error());
    group_failed(group, written.error());
    return false;
  }
  const auto flushed = Clock::now();
  observe_since(stage_seconds("flush"), start, flushed);
  ++written_groups_;
  if (!to_be_synced) return true;
  if (auto synced = sync_log(); !synced.ok()) {
    group_failed(group, outcome_unknown(synced.error()));
    return false;
  }
  observe_since(stage_seconds("sync"), flushed, Clock::now());
  return true;
}

// In bounded parts: all of it or, on failure, nothing.
Status CommitPipeline::Impl::append_spilled(const Group& group) {
  const LogPosition start = log->end();
  const LogPosition transaction_end = group.transactions.front().end;
  const size_t behind = transaction_end.offset - start.offset - group.bytes->size();
  SpilledEvents events(*group.spilled, group.spilled->size() - behind, transaction_end.offset - behind);
  Status written = log->append_part(*group.bytes, false);
  while (written.ok() && !events.done()) {
    auto part = events.next();
    written = part.ok() ? log->append_part(*part, events.done()) : Status(std::move(part).error());
    // What was received is damaged, or cannot be read back: to try again would not help.
    if (!part.ok() && !group.batch.received.empty()) fail(written.error());
  }
  if (written.ok()) return written;
  if (auto taken_back = cut_log(start); !taken_back.ok()) fail(taken_back.error());
  return written;
}

// Nothing of the group is in the log: local transactions fail, received ones are tried again.
void CommitPipeline::Impl::group_failed(Group& group, const Error& error) {
  if (engine.has_own_log() && log->usable()) roll_back_prepared(group);
  for (LocalCommit* commit : group.batch.local) commit->request->gtid = {};
  refuse(group.batch.local, error);
  if (!group.batch.received.empty() && log->usable())
    queue.put_back(std::move(group.batch.received), kRestAfterFullDisk);
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
  bool engine_thread_has_work = false;
  {
    std::unique_lock lock(mutex);
    if (!logging && needs_log(group)) {
      lock.unlock();
      return group_failed(group, too_large_without_log());
    }
    if (!logging) move_out_of_log(group);
    // Before anybody can be answered: who has his answer finds his group counted.
    if (!group.transactions.empty()) {
      ++group_number_;
      count_group(group.transactions.size());
    }
    for (PendingTransaction& transaction : group.transactions) {
      transaction.durable_at = now;
      if (transaction.local != nullptr) {
        transaction.local->durable = now;
        transaction.local->request->end = transaction.end;
      }
      if (!transaction.gtid.empty()) logged.add(transaction.gtid);
      if (transaction.epoch != 0) last_log_epoch = transaction.epoch;
      pending_bytes += transaction.end.offset - transaction.start.offset;
      pending.push_back(transaction);
    }
    next_gno = std::max(next_gno, group.next_gno);
    end = durable_end = logging ? log->end() : left_at;
    waits.moved(Bound::Durable, durable_end);
    if (gate == Gate::Immediate) advance_acknowledged(durable_end);
    for (const PendingTransaction& transaction : group.transactions) {
      if (acknowledged_ahead.erase(transaction.gtid) != 0) advance_acknowledged(transaction.end);
    }
    adjust_hold();
    if (log_thread_may_apply()) for_engine = take_acknowledged();
    engine_thread_has_work = for_engine.empty() && front_is_acknowledged();
  }
  if (engine_thread_has_work) engine_work.notify_one();
  if (!for_engine.empty()) take_into_engine(for_engine);
  // From here on local commits may already be answered and gone.
  for (auto& [index, on_durable] : group.received) {
    if (on_durable) on_durable(group.transactions[index].end);
  }
  for (auto& on_durable : group.duplicates) {
    if (on_durable) on_durable(end);
  }
}

Status CommitPipeline::Impl::rotate_log() {
  if (!logging) return {};
  GtidSet all;
  {
    std::lock_guard lock(mutex);
    all = logged;
  }
  Status rotated;
  {
    std::lock_guard lock(sync_mutex);
    rotated = log->rotate(all);
    if (rotated.ok()) synced_groups_ = written_groups_.load();  // the file that was left is synced
  }
  if (!rotated.ok()) {
    if (!log->usable() && !leave_failed_log(rotated.error())) fail(rotated.error());
    return rotated;
  }
  clock_ = {};
  std::lock_guard lock(mutex);
  durable_end = log->end();
  waits.moved(Bound::Durable, durable_end);
  if (gate == Gate::Immediate) move_acknowledged(durable_end);
  return {};
}

}  // namespace commitd::binlog

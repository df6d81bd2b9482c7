// The log thread: everything that is queued becomes one group, one write, one sync.
#include <ctime>

#include "base/error_codes.h"
#include "binlog/pipeline_impl.h"
#include "binlog/transaction_scanner.h"

namespace commitd::binlog {
namespace {

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

void observe_since(observe::Histogram& histogram, Clock::time_point start, Clock::time_point end) {
  histogram.observe_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

}  // namespace

struct CommitPipeline::Impl::Group {
  CommitQueue::Batch batch;
  std::shared_ptr<const std::string> bytes;
  std::vector<PendingTransaction> transactions;
  std::vector<std::function<void(LogPosition)>> duplicates;  // already logged: only to be reported
  std::vector<std::pair<size_t, std::function<void(LogPosition)>>>
      received;  // index in transactions, callback
  std::optional<Error> invalid;
  uint64_t next_gno = 0;
};

void CommitPipeline::Impl::run_log_thread() {
  while (auto batch = queue.take()) {
    std::vector<Errand*> errands = std::move(batch->errands);
    if (!batch->local.empty() || !batch->received.empty()) write_group(std::move(*batch));
    for (Errand* errand : errands) {
      errand->result = errand->run();
      errand->parker.wake();
    }
    if (log->usable() && log->wants_rotation())
      (void)rotate_log();  // without room for a new file the old one goes on
  }
}

void CommitPipeline::Impl::write_group(CommitQueue::Batch batch) {
  {
    std::lock_guard lock(mutex);
    if (failure) {
      for (LocalCommit* commit : batch.local) commit->answer(*failure);
      return;
    }
  }
  Group group;
  group.batch = std::move(batch);
  const auto taken = Clock::now();
  for (LocalCommit* commit : group.batch.local) {
    commit->taken = taken;
    observe_since(stage_seconds("queue"), commit->queued, taken);
  }
  if (!make_room(group.batch))
    return group_failed(group, make_error(er::kDiskFull, "Cannot start a new binary log file"));
  fill_group(group);
  if (group.invalid) {
    fail(*group.invalid);
    return group_failed(group, *group.invalid);
  }
  if (write_and_sync(group)) group_is_durable(group);
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
  GroupBuilder builder(log->end(), origin, clock_, {group_number_ + 1, acknowledged, options.sync_binlog});
  const auto add = [&group](GroupBuilder::Placed at, const Gtid& gtid, uint64_t epoch, LocalCommit* local) {
    group.transactions.push_back({at.start, at.end, gtid, epoch, local, {}});
  };

  GtidSet in_group;
  for (size_t i = 0; i < group.batch.received.size(); ++i) {
    ReceivedTransaction& received = group.batch.received[i];
    if (known[i] || in_group.contains(received.gtid)) {
      group.duplicates.push_back(received.on_durable);
      continue;
    }
    auto placed = builder.add_received(received.events);
    if (!placed) {
      group.invalid = std::move(placed).error();
      return;
    }
    in_group.add(received.gtid);
    group.received.emplace_back(group.transactions.size(), received.on_durable);
    add(*placed, received.gtid, epoch_inside(received.events), nullptr);
  }
  const uint64_t timestamp = now_microseconds();
  for (LocalCommit* commit : group.batch.local) {
    CommitRequest& request = *commit->request;
    if (!request.ship) {
      add(builder.add_unshipped(*request.events), {}, 0, commit);
      continue;
    }
    request.gtid = {options.server_uuid, group.next_gno++};
    add(builder.add_local(*request.events, request.gtid, timestamp), request.gtid, request.epoch, commit);
  }
  group.bytes = builder.take();
}

bool CommitPipeline::Impl::write_and_sync(Group& group) {
  if (group.transactions.empty()) return true;
  const auto start = Clock::now();
  if (auto written = log->append(std::move(group.bytes)); !written.ok()) {
    if (!log->usable()) fail(written.error());
    group_failed(group, written.error());
    return false;
  }
  const auto flushed = Clock::now();
  observe_since(stage_seconds("flush"), start, flushed);
  if (!options.sync_binlog) return true;
  if (auto synced = log->sync(); !synced.ok()) {
    const Error unknown =
        make_error(synced.error().code, "{}. Whether the transaction survives is known after a restart",
                   synced.error().message);
    fail(unknown);
    group_failed(group, unknown);
    return false;
  }
  observe_since(stage_seconds("sync"), flushed, Clock::now());
  return true;
}

// Nothing of the group is in the log: local transactions fail, received ones are tried again.
void CommitPipeline::Impl::group_failed(Group& group, const Error& error) {
  for (LocalCommit* commit : group.batch.local) {
    commit->request->gtid = {};
    commit->answer(error);
  }
  if (!group.batch.received.empty() && log->usable())
    queue.put_back(std::move(group.batch.received), kRestAfterFullDisk);
}

void CommitPipeline::Impl::group_is_durable(Group& group) {
  const auto now = Clock::now();
  LogPosition end;
  {
    std::lock_guard lock(mutex);
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
    end = durable_end = log->end();
    waits.moved(Bound::Durable, durable_end);
    if (gate == Gate::Immediate) move_acknowledged(durable_end);
    for (const PendingTransaction& transaction : group.transactions) {
      if (acknowledged_ahead.erase(transaction.gtid) != 0) move_acknowledged(transaction.end);
    }
    adjust_hold();
    engine_work.notify_one();
  }
  if (!group.transactions.empty()) {
    ++group_number_;
    count_group(group.transactions.size());
  }
  // From here on local commits may already be answered and gone.
  for (auto& [index, on_durable] : group.received) {
    if (on_durable) on_durable(group.transactions[index].end);
  }
  for (auto& on_durable : group.duplicates) {
    if (on_durable) on_durable(end);
  }
}

Status CommitPipeline::Impl::rotate_log() {
  GtidSet all;
  {
    std::lock_guard lock(mutex);
    all = logged;
  }
  auto rotated = log->rotate(all);
  if (!rotated.ok()) {
    if (!log->usable()) fail(rotated.error());
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

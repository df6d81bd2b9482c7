// Start-up: brings the engine from the prefix it came up with to where the log says.
#include <algorithm>

#include "base/check.h"
#include "base/error_codes.h"
#include "binlog/transaction_scanner.h"
#include "commit/pipeline_impl.h"

namespace commitd::binlog {
namespace {

constexpr size_t kReadSize = 4 << 20;
// Transactions; their bytes are bounded by the engine stage.
constexpr size_t kReplayBatch = 4096;
constexpr auto kProgressInterval = std::chrono::seconds(3);

// How far replay is: as gauges all the time, and every few seconds to who wants to tell somebody.
class ProgressReport {
 public:
  using Listener = std::function<void(const ReplayProgress&)>;
  ProgressReport(const Listener& listener, Log& log, LogPosition from, LogPosition to) : listener_(listener) {
    if (auto files = log.all_files()) files_ = std::move(*files);
    now_.total_bytes = bytes_between(from, to);
    from_ = from;
    total().set(static_cast<double>(now_.total_bytes));
    reached(from, 0, 0);
  }

  void reached(LogPosition position, uint64_t transaction_count, uint64_t row_count) {
    now_.bytes = bytes_between(from_, position);
    now_.transactions = transaction_count;
    now_.rows = row_count;
    done().set(static_cast<double>(now_.bytes));
    transactions().set(static_cast<double>(transaction_count));
    rows().set(static_cast<double>(row_count));
    if (!listener_ || Clock::now() < next_) return;
    next_ = Clock::now() + kProgressInterval;
    listener_(now_);
  }

 private:
  uint64_t bytes_between(LogPosition from, LogPosition to) const {
    uint64_t bytes = 0;
    for (const LogFileInfo& file : files_) {
      if (file.number < from.file || file.number > to.file) continue;
      const uint64_t start = file.number == from.file ? from.offset : 0;
      const uint64_t end = file.number == to.file ? to.offset : file.size;
      if (end > start) bytes += end - start;
    }
    return bytes;
  }
  static observe::Gauge& total() {
    return observe::gauge("commitd_recovery_log_bytes", "Bytes of log to replay at the last start.");
  }
  static observe::Gauge& done() {
    return observe::gauge("commitd_recovery_replayed_bytes", "Bytes of log replayed at the last start.");
  }
  static observe::Gauge& transactions() {
    return observe::gauge("commitd_recovery_replayed_transactions",
                          "Transactions replayed from the log at the last start.");
  }
  static observe::Gauge& rows() {
    return observe::gauge("commitd_recovery_replayed_rows",
                          "Keys written by replay at the last start: rows and index entries.");
  }

  const Listener& listener_;
  std::vector<LogFileInfo> files_;
  LogPosition from_;
  ReplayProgress now_;
  Clock::time_point next_ = Clock::now() + kProgressInterval;
};

}  // namespace

// Not so one's own that came back: a start takes them for what was executed here.
bool CommitPipeline::Impl::came_from_a_source(const Gtid& gtid) const {
  return !gtid.empty() && gtid.sid != options.server_uuid;
}

// Walks the transactions from `from` to the end of the log.
Status CommitPipeline::Impl::find_transactions(LogPosition from,
                                               const std::function<Status(const PendingTransaction&)>& each) {
  TransactionScanner scanner;
  const auto now = Clock::now();
  while (from < found.end) {
    auto chunk = log->read(from, found.end, kReadSize);
    if (!chunk) return std::move(chunk).error();
    if (chunk->bytes.empty()) break;
    const uint32_t file = chunk->start.file;
    uint64_t offset = chunk->start.offset;
    std::string_view rest = chunk->bytes;
    while (!rest.empty()) {
      auto event = parse_event(rest);
      if (!event) return std::move(event).error();
      auto place = scanner.feed(*event, offset);
      if (!place) return std::move(place).error();
      offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
      if (!TransactionScanner::completes(*place)) continue;
      const TransactionScanner::Transaction& transaction = scanner.transaction();
      COMMITD_RETURN_IF_ERROR(each({{file, transaction.start},
                                    {file, transaction.end},
                                    transaction.gtid,
                                    transaction.epoch,
                                    nullptr,
                                    now,
                                    came_from_a_source(transaction.gtid)}));
    }
    from = {file, offset};
  }
  return {};
}

// How many were applied. One that cannot be stops the applier alone, if it was received; it and all behind it
// wait.
Result<size_t> CommitPipeline::Impl::replay_batch(std::span<const PendingTransaction> batch) {
  {
    MutexLock lock(mutex);
    order.replaying(batch);
  }
  auto applied = engine_stage.apply(batch);
  if (applied.ok()) return batch.size();
  if (!engine_stage.unappliable()) return std::move(applied).error();
  MutexLock lock(mutex);
  const auto rest = batch.last(order.in_engine());
  if (!rest.front().received) return std::move(applied).error();
  order.stop_applying(rest, applied.error());
  return batch.size() - rest.size();
}

// The engine's position and its GTIDs are written together.
Status CommitPipeline::Impl::check_not_there(const PendingTransaction& transaction,
                                             const storage::CommitPoint& point) const {
  if (transaction.gtid.empty() || transaction.end <= point.incomplete_up_to ||
      !point.executed.contains(transaction.gtid))
    return {};
  return make_error(
      er::kErrorOnRead,
      "The data has transaction {} already, which stands at offset {} of '{}', behind offset {} "
      "of '{}' that the data goes with. Nothing was changed",
      transaction.gtid.to_string(), transaction.start.offset, log->file_name(transaction.start.file),
      point.position.offset, log->file_name(point.position.file));
}

// Each transaction of the log is executed, or waits.
Status CommitPipeline::Impl::check_nothing_passed_over(const storage::CommitPoint& from) const {
  MutexLock lock(mutex);
  GtidSet missing = order.logged();
  missing.subtract(order.executed());
  for (const PendingTransaction& waiting : order.pending()) {
    const Gtid& gtid = waiting.gtid;
    if (!gtid.empty()) missing.subtract_interval(gtid.sid, gtid.gno, gtid.gno + 1);
  }
  if (missing.empty()) return {};
  return make_error(
      er::kErrorOnRead,
      "The data goes with offset {} of '{}' and lacks transactions that stand in front of that: "
      "{}. Provision this server anew",
      from.position.offset, log->file_name(from.position.file), missing.to_string());
}

// What was prepared and never came into the log was acknowledged to nobody.
Status CommitPipeline::Impl::roll_back_lost_prepared(ReplayReport& report) {
  std::vector<Gtid> lost = engine.recover();
  {
    MutexLock lock(mutex);
    std::erase_if(lost, [&logged = order.logged()](const Gtid& gtid) { return logged.contains(gtid); });
  }
  report.rolled_back_prepared = lost.size();
  COMMITD_RETURN_IF_ERROR(engine.rollback(lost));
  COMMITD_RETURN_IF_ERROR(engine.room());  // where that is to be done later
  MutexLock lock(mutex);
  for (const Gtid& gtid : engine.recover()) {
    COMMITD_CHECK(order.logged().contains(gtid) && !order.executed().contains(gtid),
                  "{} is prepared behind a start, and nothing of it waits", gtid.to_string());
  }
  return {};
}

Result<CommitPipeline::ReplayReport> CommitPipeline::Impl::replay(LogPosition limit) {
  const auto started = Clock::now();
  const storage::CommitPoint point = engine.commit_point();
  if (!point.executed.contains(found.purged)) {
    GtidSet missing = found.purged;
    missing.subtract(point.executed);
    return make_error(
        er::kErrorOnRead,
        "The data lacks transactions that the binary log has no longer: {}. Provision this server anew",
        missing.to_string());
  }
  if (point.incomplete_up_to > found.end) {
    return make_error(er::kErrorOnRead,
                      "The binary log ends at offset {} of '{}', before position {} of '{}' up to which the "
                      "data has some transactions in part",
                      found.end.offset, log->file_name(found.end.file), point.incomplete_up_to.offset,
                      log->file_name(point.incomplete_up_to.file));
  }
  // Acknowledged, whatever the log says of it: nothing else is taken into the engine.
  limit = std::max(limit, point.incomplete_up_to);
  auto files = log->all_files();
  if (!files) return std::move(files).error();
  const LogPosition first =
      files->empty() ? LogPosition() : LogPosition{files->front().number, kFileMagic.size()};
  const LogPosition from = std::max(point.position, first);

  {
    MutexLock lock(mutex);
    order.acknowledge_found(limit);
  }
  ReplayReport report;
  std::vector<PendingTransaction> batch;
  bool stopped = false;
  size_t ahead = 0;
  const auto apply = [&]() -> Status {
    if (batch.empty()) return {};
    auto applied = replay_batch(batch);
    if (!applied) return std::move(applied).error();
    stopped = *applied < batch.size();
    report.transactions += *applied;
    batch.clear();
    return {};
  };
  ProgressReport progress(options.on_replay_progress, *log, from, std::min(limit, found.end));
  engine_stage.overlap();
  auto replayed = find_transactions(from, [&](const PendingTransaction& transaction) -> Status {
    COMMITD_RETURN_IF_ERROR(check_not_there(transaction, point));
    if (!transaction.gtid.empty() && point.executed.contains(transaction.gtid)) ++ahead;
    if (transaction.end > limit) COMMITD_RETURN_IF_ERROR(apply());
    if (transaction.end > limit || stopped) {
      MutexLock lock(mutex);
      order.found(transaction);
      return {};
    }
    batch.push_back(transaction);
    if (batch.size() < kReplayBatch) return {};
    auto applied = apply();
    progress.reached(transaction.end, report.transactions, engine_stage.keys_written());
    return applied;
  });
  if (replayed.ok()) replayed = apply();
  auto finished = engine_stage.finish_overlapping();
  COMMITD_RETURN_IF_ERROR(std::move(replayed));
  COMMITD_RETURN_IF_ERROR(std::move(finished));
  COMMITD_RETURN_IF_ERROR(check_nothing_passed_over(point));
  COMMITD_RETURN_IF_ERROR(roll_back_lost_prepared(report));
  report.committed_prepared = engine_stage.committed_prepared();
  report.rows = engine_stage.keys_written();

  progress.reached(std::min(limit, found.end), report.transactions, report.rows);
  observe::gauge("commitd_recovery_committed_prepared",
                 "Prepared transactions that the log had, at the last start (xa only).")
      .set(report.committed_prepared);
  observe::gauge("commitd_recovery_rolled_back_prepared",
                 "Prepared transactions that the log did not have, at the last start (xa only).")
      .set(report.rolled_back_prepared);
  observe::gauge("commitd_recovery_ahead_transactions",
                 "Transactions that the data had behind one that it lacked, at the last start "
                 "(binlog_order_commits=OFF only).")
      .set(ahead);
  observe::gauge("commitd_recovery_truncated_bytes", "Bytes of a torn tail cut at the last start.")
      .set(found.truncated_bytes);
  observe::gauge("commitd_recovery_seconds", "How long replay took at the last start.")
      .set(std::chrono::duration<double>(Clock::now() - started).count());
  return report;
}

}  // namespace commitd::binlog

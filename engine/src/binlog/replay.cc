// Start-up: brings the engine from the prefix it came up with to where the log says.
#include "base/error_codes.h"
#include "binlog/pipeline_impl.h"
#include "binlog/transaction_scanner.h"

namespace commitd::binlog {
namespace {

constexpr size_t kReadSize = 4 << 20;
constexpr size_t kReplayBatch = 512;

}  // namespace

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
      auto ended = scanner.feed(*event, offset);
      if (!ended) return std::move(ended).error();
      offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
      if (!*ended) continue;
      const TransactionScanner::Transaction& transaction = **ended;
      COMMITD_RETURN_IF_ERROR(each({{file, transaction.start},
                                    {file, transaction.end},
                                    transaction.gtid,
                                    transaction.epoch,
                                    nullptr,
                                    now}));
    }
    from = {file, offset};
  }
  return {};
}

Result<CommitPipeline::ReplayReport> CommitPipeline::Impl::replay(LogPosition limit) {
  const auto started = Clock::now();
  const storage::CommitPoint point = engine_stage.point();
  if (!point.executed.contains(found.purged)) {
    GtidSet missing = found.purged;
    missing.subtract(point.executed);
    return make_error(
        er::kErrorOnRead,
        "The data lacks transactions that the binary log has no longer: {}. Provision this server anew",
        missing.to_string());
  }
  auto files = log->files();
  if (!files) return std::move(files).error();
  const LogPosition first{files->front().number, kFileMagic.size()};
  const LogPosition from = std::max(point.position, first);

  ReplayReport report;
  std::vector<PendingTransaction> batch;
  const auto apply = [&]() -> Status {
    COMMITD_RETURN_IF_ERROR(engine_stage.apply(batch));
    report.transactions += batch.size();
    batch.clear();
    return {};
  };
  COMMITD_RETURN_IF_ERROR(find_transactions(from, [&](const PendingTransaction& transaction) -> Status {
    if (transaction.end > limit) {
      pending_bytes += transaction.end.offset - transaction.start.offset;
      pending.push_back(transaction);
      return {};
    }
    batch.push_back(transaction);
    return batch.size() < kReplayBatch ? Status{} : apply();
  }));
  if (!batch.empty()) COMMITD_RETURN_IF_ERROR(apply());
  report.rows = engine_stage.keys_written();
  acknowledged_end = std::max(acknowledged_end, std::min(limit, durable_end));

  observe::gauge("commitd_recovery_replayed_transactions",
                 "Transactions replayed from the log at the last start.")
      .set(report.transactions);
  observe::gauge("commitd_recovery_truncated_bytes", "Bytes of a torn tail cut at the last start.")
      .set(found.truncated_bytes);
  observe::gauge("commitd_recovery_seconds", "How long replay took at the last start.")
      .set(std::chrono::duration<double>(Clock::now() - started).count());
  return report;
}

}  // namespace commitd::binlog

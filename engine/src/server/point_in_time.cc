#include "server/point_in_time.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "base/error_codes.h"
#include "base/temporal.h"
#include "binlog/transaction_scanner.h"
#include "log/log_archive.h"
#include "log/log_file.h"

namespace commitd::server {
namespace {

struct RestoreTarget {
  std::string log_directory;
  std::optional<GtidSet> until_gtid;   // stop as soon as all of these are there
  std::optional<uint64_t> until_time;  // stop before the first transaction committed later (µs since 1970)
};

Result<RestoreTarget> restore_target(const Options& options) {
  RestoreTarget target;
  target.log_directory = options.restore_binlogs;
  if (!options.restore_until_gtid.empty()) {
    auto gtids = GtidSet::parse(options.restore_until_gtid);
    if (!gtids.ok() || gtids->empty()) {
      return make_error(er::kWrongValueForVar, "--restore-until-gtid: '{}' is not a GTID set",
                        options.restore_until_gtid);
    }
    target.until_gtid = std::move(*gtids);
  }
  if (!options.restore_until_time.empty()) {
    const auto time = parse_datetime(options.restore_until_time);
    if (!time) {
      return make_error(er::kWrongValueForVar, "--restore-until-time: '{}' is not a time",
                        options.restore_until_time);
    }
    target.until_time = static_cast<uint64_t>(to_unix_seconds(*time)) * 1'000'000 + time->microsecond;
  }
  return target;
}

// The number of the only log file, when nothing stands in it.
Result<uint32_t> untouched_log(FileSystem& fs, const binlog::LogOptions& log) {
  binlog::LogIndex index(fs, log.directory, log.base_name);
  auto loaded = index.load();
  if (!loaded.ok()) return std::move(loaded).error();
  if (*loaded && index.numbers().size() == 1) {
    const std::string path = index.path(index.numbers().front());
    auto file = fs.open(path, FileSystem::Open::Read);
    if (!file.ok()) return std::move(file).error();
    auto header = binlog::read_log_file_header(**file, path);
    auto size = (*file)->size();
    if (header.ok() && size.ok() && *size == header->length) return index.numbers().front();
  }
  return make_error(
      er::kOptionPreventsStatement,
      "--restore-binlogs wants a restored backup that has not been started yet: '{}' has a log of "
      "its own. Leave the option out to start on it",
      log.directory);
}

class Restore {
 public:
  Restore(const RestoreTarget& target, storage::Engine& engine, binlog::EventApplier& applier)
      : target_(target), engine_(engine), applier_(applier), point_(engine.commit_point()) {}

  // False when the target is reached.
  Result<bool> take(const binlog::ArchivedTransaction& transaction) {
    if (reached_gtid()) return false;
    if (target_.until_time && transaction.committed_at > *target_.until_time) return false;
    if (!transaction.gtid.empty() && point_.executed.contains(transaction.gtid)) return true;
    COMMITD_RETURN_IF_ERROR(apply(transaction));
    ++transactions_;
    return !reached_gtid();
  }

  Status check_reached() const {
    if (!target_.until_gtid || reached_gtid()) return {};
    GtidSet missing = *target_.until_gtid;
    missing.subtract(point_.executed);
    return make_error(er::kErrorOnRead, "--restore-until-gtid: '{}' does not have {}", target_.log_directory,
                      missing.to_string());
  }
  const storage::CommitPoint& point() const { return point_; }
  uint64_t transactions() const { return transactions_; }

 private:
  bool reached_gtid() const { return target_.until_gtid && point_.executed.contains(*target_.until_gtid); }

  Status apply(const binlog::ArchivedTransaction& transaction) {
    WriteSet writes;
    auto outcome = applier_.build(binlog::unwrap_local(transaction.events), {.alone = true}, writes);
    if (!outcome.ok()) {
      return make_error(outcome.error().code, "Cannot replay transaction {} at offset {} of file {}: {}",
                        transaction.gtid.to_string(), transaction.start.offset, transaction.start.file,
                        outcome.error().message);
    }
    point_.position = transaction.end;
    storage::CommitStep step;
    if (!transaction.gtid.empty()) step.added.add(transaction.gtid);
    if (transaction.epoch != 0) point_.epoch = transaction.epoch;
    static_cast<storage::EnginePlace&>(step) = point_;
    WriteSet* batch[] = {&writes};
    COMMITD_RETURN_IF_ERROR(engine_.commit_ordered(batch, step));
    point_.executed.add(step.added);
    if (outcome->publish) outcome->publish();
    return {};
  }

  const RestoreTarget& target_;
  storage::Engine& engine_;
  binlog::EventApplier& applier_;
  storage::CommitPoint point_;
  uint64_t transactions_ = 0;
};

}  // namespace

Status check_restore_options(const Options& options) {
  auto target = restore_target(options);
  return target.ok() ? Status{} : Status(std::move(target).error());
}

Status restore_to_point(FileSystem& fs, const Options& options, storage::Engine& engine,
                        binlog::EventApplier& applier, binlog::LogOptions log) {
  auto target = restore_target(options);
  if (!target.ok()) return std::move(target).error();
  auto present = untouched_log(fs, log);
  if (!present.ok()) return std::move(present).error();
  auto archive = binlog::LogArchive::open(fs, target->log_directory, log.base_name, engine.replay_position());
  if (!archive.ok()) return std::move(archive).error();
  Restore restore(*target, engine, applier);
  COMMITD_RETURN_IF_ERROR(archive->visit(
      [&restore](const binlog::ArchivedTransaction& transaction) { return restore.take(transaction); }));
  COMMITD_RETURN_IF_ERROR(restore.check_reached());
  // The data first: a log that begins behind transactions that the data lacks would be refused.
  COMMITD_RETURN_IF_ERROR(engine.checkpoint());
  log.initial_gtids = restore.point().executed;
  COMMITD_RETURN_IF_ERROR(binlog::create_log(fs, log, std::max(*present, restore.point().position.file) + 1));
  spdlog::info("restored from={} transactions={} gtid_executed={}", target->log_directory,
               restore.transactions(), restore.point().executed.to_string());
  return {};
}

}  // namespace commitd::server

#include "server/housekeeper.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

#include "observe/metrics.h"

namespace commitd::server {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);
constexpr int kIntervalsPerPurge = 5;

observe::Counter& checkpoints() {
  static auto& counter =
      observe::counter("commitd_checkpoints_total", "Times the storage engine was made durable on purpose.");
  return counter;
}

struct PurgeCounters {
  observe::Counter& rounds = observe::counter("commitd_purge_rounds_total",
                                              "Times purging of garbage began because there was much.");
  observe::Counter& slices = observe::counter(
      "commitd_purge_slices_total", "Pieces in which garbage was purged; with no bound a round is one.");
  observe::Counter& pages =
      observe::counter("commitd_purge_pages_total", "Pages of 16 KiB that purging merged.");
};

PurgeCounters& purge_counters() {
  static PurgeCounters counters;
  return counters;
}

// The first of the newest files that together have no more than `most` bytes. The one that is written to is
// always among them.
uint32_t first_within(const std::vector<binlog::LogFileInfo>& files, uint64_t most) {
  uint64_t bytes = files.back().size;
  auto first = files.rbegin();
  for (auto older = std::next(first); older != files.rend(); first = older++) {
    bytes += older->size;
    if (bytes > most) break;
  }
  return first->number;
}

}  // namespace

Housekeeper::Housekeeper(BackupSource source, binlog::CommitPipeline& pipeline,
                         const sql::SystemVariables& variables, replication::RoleManager& roles)
    : source_(std::move(source)),
      engine_(*source_.engine),
      purging_(storage::purging_of(engine_)),
      pipeline_(pipeline),
      variables_(variables),
      roles_(roles) {
  checkpoints();
  purge_counters();
}

Task<void> Housekeeper::run() {
  running_ = true;
  for (int interval = 0; !stopping_; ++interval) {
    if (checkpoint_is_due()) {
      if (auto status = co_await checkpoint(); !status.ok())
        spdlog::error("checkpoint failed: {}", status.error().message);
    }
    if (!stopping_) co_await purge_garbage();
    if (interval % kIntervalsPerPurge == 0 && !stopping_) co_await purge_old_logs();
    if (interval % kIntervalsPerPurge == 0 && !stopping_) co_await purge_applied_relay_logs();
    if (!stopping_) co_await wake_.wait(Clock::now() + kInterval);
  }
  running_ = false;
  ended_.set();
}

Task<void> Housekeeper::stop() {
  stopping_ = true;
  if (purging_ != nullptr) purging_->stop_purging();
  wake_.set();
  while (running_) co_await ended_.wait();
}

// By bytes, so that a start replays no more than about that much, and by time, so that a quiet server's log
// can be purged.
bool Housekeeper::checkpoint_is_due() {
  const LogPosition flushed = engine_.flushed_position();
  const LogPosition taken = engine_.replay_position();
  const auto now = Clock::now();
  if (flushed != flushed_ || taken == flushed) {
    flushed_ = flushed;
    flushed_since_ = now;
  }
  if (taken == flushed) return false;
  const uint64_t limit = setting("commitd_checkpoint_bytes");
  const auto age = std::chrono::seconds(setting("commitd_checkpoint_seconds"));
  return (limit != 0 && pipeline_.log().bytes_between(flushed, taken) >= limit) ||
         (age.count() != 0 && now - flushed_since_ >= age);
}

// What a round left stays until nobody sees it any more, and does not begin another one by itself.
bool Housekeeper::purge_is_due() {
  const uint64_t most = setting("commitd_purge_history_length");
  purging_->watch_scans_from(most == 0 ? UINT64_MAX : most);
  const uint64_t length = purging_->history_length();
  left_by_purge_ = std::min(left_by_purge_, length);
  return most != 0 && length >= std::max(most, left_by_purge_ + most / 2);
}

// Once an interval: one slice, or a whole round where its size has no bound. That keeps the other work here
// waiting, as it did MySQL's master thread.
Task<void> Housekeeper::purge_garbage() {
  if (purging_ == nullptr || (!purge_is_due() && !purging_round_) || !engine_.room().ok()) co_return;
  if (!purging_round_) purge_counters().rounds.add();
  storage::Purging::Slice slice;
  std::function<Status()> purge = [this, &slice, pages = setting("commitd_purge_batch_size")]() -> Status {
    auto purged = purging_->purge(pages);
    if (!purged) return std::move(purged).error();
    slice = *purged;
    return {};
  };
  if (auto status = co_await purger_.run(std::move(purge)); !status.ok())
    spdlog::error("purging garbage failed: {}", status.error().message);
  purge_counters().slices.add();
  purge_counters().pages.add(slice.pages);
  purging_round_ = !slice.last;
  if (slice.last) left_by_purge_ = purging_->history_length();
}

Task<Status> Housekeeper::checkpoint() {
  checkpoints().add();
  std::function<Status()> flush = [this] { return engine_.checkpoint(); };
  co_return co_await flusher_.run(std::move(flush));
}

Task<Result<binlog::PurgeReport>> Housekeeper::purge_logs(uint32_t first_kept) {
  if (engine_.flushed_position().file < first_kept) {
    COMMITD_CO_RETURN_IF_ERROR(co_await pipeline_.settle_engine_position());
    COMMITD_CO_RETURN_IF_ERROR(co_await checkpoint());
  }
  co_return co_await pipeline_.purge_to(first_kept);
}

Task<Status> Housekeeper::reset_logs() {
  auto status = co_await roles_.reset_logs();
  if (status.ok()) spdlog::warn("RESET BINARY LOGS AND GTIDS: the binary log starts anew");
  co_return status;
}

// Files go when they are too old, or when there is too much of them.
Result<uint32_t> Housekeeper::first_log_to_keep(const std::vector<binlog::LogFileInfo>& files) const {
  uint32_t kept = files.front().number;
  if (const uint64_t seconds = setting("binlog_expire_logs_seconds"); seconds != 0) {
    const auto oldest = static_cast<int64_t>(std::time(nullptr)) - static_cast<int64_t>(seconds);
    auto young_enough = pipeline_.log().first_written_since(oldest);
    if (!young_enough.ok()) return young_enough;
    kept = std::max(kept, *young_enough);
  }
  if (const uint64_t most = setting("commitd_max_retained_binlog_bytes"); most != 0)
    kept = std::max(kept, first_within(files, most));
  return kept;
}

Task<void> Housekeeper::purge_old_logs() {
  if (variables_.global("binlog_expire_logs_auto_purge").as_int() == 0 || !pipeline_.logging()) co_return;
  binlog::Log& log = pipeline_.log();
  auto files = log.files();
  if (!files.ok()) co_return;
  auto kept = first_log_to_keep(*files);
  if (!kept.ok() || *kept <= files->front().number) co_return;
  auto report = co_await purge_logs(*kept);
  if (!report.ok()) {
    spdlog::error("purging old binary logs failed: {}", report.error().message);
  } else if (report->removed != 0) {
    spdlog::info("purged old binary logs files={} first={}", report->removed,
                 log.file_name(report->first_kept));
  }
}

// A finished file of the relay log goes when the engine has all of it for good. It is not waited for that by
// itself: the next checkpoint may be far.
Task<void> Housekeeper::purge_applied_relay_logs() {
  if (variables_.global("relay_log_purge").as_int() == 0 || !pipeline_.logging()) co_return;
  auto files = pipeline_.log().files(binlog::LogKind::Relay);
  if (!files.ok() || files->empty()) co_return;
  const uint32_t oldest = files->front().number;
  if (oldest >= pipeline_.durable_end().file) co_return;
  Status status;
  if (engine_.flushed_position().file <= oldest) {
    status = co_await pipeline_.settle_engine_position();
    if (status.ok() && engine_.replay_position().file <= oldest) co_return;
    if (status.ok()) status = co_await checkpoint();
  }
  if (status.ok()) status = co_await pipeline_.purge_relay(roles_.first_log_of_stand().value_or(UINT32_MAX));
  if (!status.ok()) spdlog::error("purging relay logs failed: {}", status.error().message);
}

Task<Result<sql::BackupReport>> Housekeeper::backup(std::string directory) {
  sql::BackupReport report;
  std::function<Status()> copy = [this, &directory, &report]() -> Status {
    auto made = make_backup(source_, directory);
    if (!made.ok()) return std::move(made).error();
    report = *std::move(made);
    return {};
  };
  auto status = co_await copier_.run(std::move(copy));
  if (!status.ok()) co_return std::move(status).error();
  co_return report;
}

}  // namespace commitd::server

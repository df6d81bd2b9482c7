#include "server/instance.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error_codes.h"
#include "commit/left_log.h"
#include "observe/instrumented_files.h"
#include "storage/table_engines.h"

namespace commitd::server {

Status Instance::create(const Place& place, const InstanceSettings& settings, const sql::Accounts& accounts,
                        const std::string& root_password) {
  auto engine = place.open_engine(settings.engine);
  if (!engine.ok()) return std::move(engine).error();
  LogPosition log_end;
  if (settings.log_bin) {
    binlog::OpenReport found;
    auto log = binlog::Log::open(place.files, settings.log, LogPosition{}, &found);
    if (!log.ok()) return std::move(log).error();
    log_end = (*log)->end();
  }

  WriteSet writes;
  sql::Catalog::initialize(writes);
  accounts.initialize(writes, root_password);
  WriteSet* batch[] = {&writes};
  storage::CommitStep step;
  step.position = log_end;
  COMMITD_RETURN_IF_ERROR((*engine)->commit_ordered(batch, step));
  return (*engine)->checkpoint();
}

Result<std::unique_ptr<Instance>> Instance::open(const Place& place, InstanceSettings settings,
                                                 sql::ServerContext& server) {
  auto instance = std::make_unique<Instance>(std::move(settings), server);
  COMMITD_RETURN_IF_ERROR(instance->open_engine(place.open_engine));
  binlog::OpenReport found;
  auto log = instance->open_log(place.files, found);
  if (!log.ok()) return std::move(log).error();
  COMMITD_RETURN_IF_ERROR(instance->start(std::move(*log), found));
  return instance;
}

Status Instance::open_engine(const OpenEngine& open) {
  auto engine = open(settings_.engine);
  if (!engine.ok()) return std::move(engine).error();
  engine_ = std::make_unique<storage::EngineRouter>(std::move(*engine));
  if (auto* gtids = storage::gtid_storage_of(*engine_)) gtids->keep_gtids_by(settings_.gtids);
  catalog_ = std::make_unique<sql::Catalog>(*engine_);
  COMMITD_RETURN_IF_ERROR(catalog_->load());
  COMMITD_RETURN_IF_ERROR(server_.accounts->load(*engine_));
  server_.engine = engine_.get();
  server_.catalog = catalog_.get();
  applier_ = std::make_unique<replication::EventApplier>(*catalog_, server_);
  return {};
}

Result<std::unique_ptr<binlog::Log>> Instance::open_log(FileSystem& fs, binlog::OpenReport& found) {
  log_files_ = observe::instrumented_log_files(fs);
  COMMITD_RETURN_IF_ERROR(settings_.before_log(*engine_, *applier_, settings_.log));
  COMMITD_RETURN_IF_ERROR(binlog::CommitPipeline::finish_reset(*log_files_, settings_.log, *engine_));
  COMMITD_RETURN_IF_ERROR(binlog::look_for_left_log(*log_files_, settings_.log, engine_->commit_point()));
  if (settings_.relay_log_recovery) {
    const storage::CommitPoint point = engine_->commit_point();
    settings_.log.relay_recovery_at = std::max(point.position, point.incomplete_up_to);
  }
  auto log = open_log_files(found);
  if (log.ok() && found.truncated_bytes > 0)
    spdlog::warn("cut a torn tail bytes={} file={}", found.truncated_bytes,
                 (*log)->file_name(found.end.file));
  return log;
}

Status Instance::start(std::unique_ptr<binlog::Log> log, const binlog::OpenReport& found) {
  binlog::PipelineOptions options = settings_.pipeline;
  COMMITD_RETURN_IF_ERROR(remove_temporary_files(options.temporary));
  options.on_replay_progress = [](const binlog::ReplayProgress& now) {
    spdlog::info("replaying transactions={} rows={} bytes={} of={} percent={}", now.transactions, now.rows,
                 now.bytes, now.total_bytes, now.total_bytes == 0 ? 100 : now.bytes * 100 / now.total_bytes);
  };
  pipeline_ = std::make_unique<binlog::CommitPipeline>(std::move(log), found, *engine_, *applier_, options);
  COMMITD_RETURN_IF_ERROR(recover(found));
  COMMITD_RETURN_IF_ERROR(settle_logging());
  start_tables_in_memory();
  locks_ = std::make_unique<txn::LockManager>(settings_.locks);
  services_ =
      std::make_unique<txn::Services>(txn::Services{*engine_, *locks_, *pipeline_, server_.observers});
  COMMITD_RETURN_IF_ERROR(settings_.recovered(*pipeline_));
  pipeline_->start();
  server_.transactions = services_.get();
  return {};
}

// Without --log-bin, too, what a log has is needed: the engine may lack the end of it.
Result<std::unique_ptr<binlog::Log>> Instance::open_log_files(binlog::OpenReport& found) {
  const LogPosition position = engine_->replay_position();
  const bool lacks_nothing = position == LogPosition() || position == settings_.log.left_at;
  if (!settings_.log_bin && lacks_nothing && !binlog::Log::exists(*log_files_, settings_.log))
    return binlog::Log::none(*log_files_, settings_.log);
  return binlog::Log::open(*log_files_, settings_.log, position, &found);
}

// What was logged is in the engine now. A log that was left goes on in a new file.
Status Instance::settle_logging() {
  if (!settings_.log_bin) {
    spdlog::warn("no binary log (--skip-log-bin): replicas get nothing of what is committed now");
    return pipeline_->leave_log();
  }
  const bool never_logged = engine_->replay_position().file == 0;
  if (settings_.log.left_at == LogPosition() && !never_logged)
    return settings_.engine.own_log ? binlog::reserve_note_of_leaving(*log_files_, settings_.log) : Status{};
  COMMITD_RETURN_IF_ERROR(pipeline_->return_to_log());
  auto purged = pipeline_->gtid_purged();
  if (!purged.ok()) return std::move(purged).error();
  spdlog::warn(
      "the binary log goes on in '{}' behind transactions that no file of it has: gtid_purged='{}'. Replicas "
      "that lack them are refused (1236) and must be provisioned anew",
      pipeline_->log().file_name(pipeline_->durable_end().file), purged->to_string());
  return {};
}

Status Instance::recover(const binlog::OpenReport& found) {
  LogPosition from = engine_->replay_position();
  // A log is only left by a server that acknowledges by itself.
  const bool was_left = settings_.log.left_at != LogPosition();
  const auto known = was_left ? std::nullopt : settings_.apply_limit(found.acknowledged);
  LogPosition limit = known ? std::max(*known, from) : found.end;
  auto replayed = pipeline_->replay(std::min(limit, found.end));
  if (!replayed.ok()) return std::move(replayed).error();
  limit = std::max(limit, pipeline_->applied_end());
  spdlog::info(
      "recovered from={}:{} to={}:{} transactions={} rows={} unacknowledged={} committed_prepared={} "
      "rolled_back_prepared={}",
      from.file, from.offset, limit.file, limit.offset, replayed->transactions, replayed->rows,
      pipeline_->unapplied_transactions(), replayed->committed_prepared, replayed->rolled_back_prepared);
  return {};
}

void Instance::start_tables_in_memory() {
  bool any = false;
  for (const std::string& db : catalog_->databases()) {
    for (const TablePtr& table : catalog_->tables(db)) any = any || storage::engine_of(*table).in_memory;
  }
  engine_->memory().start(sql::CatalogChange(*catalog_).new_table_id(), any);
}

bool Instance::is_clean() const {
  return pipeline_ && !pipeline_->failure() && pipeline_->unapplied_transactions() == 0 &&
         engine_->recover().empty();
}

void Instance::end_cleanly() {
  if (auto status = engine_->checkpoint(); !status.ok()) {
    spdlog::error("checkpoint at shutdown failed: {}", status.error().message);
  } else if (is_clean()) {
    settings_.ended_cleanly();
  }
}

Instance::~Instance() {
  close();
}

void Instance::close() {
  if (!engine_) return;
  server_.transactions = nullptr;
  server_.catalog = nullptr;
  server_.engine = nullptr;
  if (pipeline_) pipeline_->stop();
  if (settings_.checkpoint_at_end) end_cleanly();
  services_.reset();
  pipeline_.reset();
  applier_.reset();
  locks_.reset();
  catalog_.reset();
  engine_.reset();
}

}  // namespace commitd::server

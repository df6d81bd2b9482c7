#include "server/instance.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error_codes.h"
#include "commit/left_log.h"
#include "observe/instrumented_files.h"
#include "server/lock_variables.h"
#include "server/memory.h"
#include "storage/table_engines.h"

namespace commitd::server {
namespace {

binlog::LogOptions log_options_for(const Datadir& datadir, const Options& options) {
  binlog::LogOptions log;
  log.directory = datadir.path();
  log.server_id = options.server_id;
  log.server_version = kVersion;
  log.max_file_size = options.max_binlog_size;
  log.prefill_bytes = options.binlog_prefill;
  log.memory_bytes = recent_log_within_budget();
  return log;
}

storage::RocksOptions rocks_options(const Datadir& datadir, const Options& options) {
  storage::RocksOptions rocks;
  rocks.directory = datadir.engine_directory();
  rocks.block_cache_bytes = options.block_cache_size;
  rocks.write_buffer_bytes = options.write_buffer_size;
  rocks.own_log = options.xa;
  rocks.flush_log_at_trx_commit = {options.commit_settings,
                                   &options.commit_settings->flush_log_at_trx_commit};
  return rocks;
}

Durability durability_of(const Options& options) {
  return options.xa ? Durability::Xa : Durability::SingleLog;
}

}  // namespace

Status Instance::create(const Place& place, Datadir& datadir, const Options& options,
                        const sql::Accounts& accounts, const std::string& root_password) {
  COMMITD_RETURN_IF_ERROR(datadir.begin_initialization());
  auto engine = place.open_engine(rocks_options(datadir, options));
  if (!engine.ok()) return std::move(engine).error();
  LogPosition log_end;
  if (options.log_bin) {
    binlog::OpenReport found;
    auto log = binlog::Log::open(place.files, log_options_for(datadir, options), LogPosition{}, &found);
    if (!log.ok()) return std::move(log).error();
    log_end = (*log)->end();
  }

  WriteSet writes;
  sql::Catalog::initialize(writes);
  accounts.initialize(writes, root_password);
  WriteSet* batch[] = {&writes};
  COMMITD_RETURN_IF_ERROR((*engine)->commit_ordered(batch, {log_end, {}, 0}));
  COMMITD_RETURN_IF_ERROR((*engine)->checkpoint());
  COMMITD_RETURN_IF_ERROR(datadir.store_durability({durability_of(options), true}));
  COMMITD_RETURN_IF_ERROR(datadir.finish_initialization());
  spdlog::info("initialised datadir={} server_uuid={}", datadir.path(), datadir.server_uuid().to_string());
  return {};
}

Result<std::unique_ptr<Instance>> Instance::open(const Place& place, const Datadir& datadir,
                                                 const Options& options, sql::ServerContext& server,
                                                 replication::RoleManager& roles) {
  auto instance = std::unique_ptr<Instance>(new Instance(server, datadir, durability_of(options)));
  COMMITD_RETURN_IF_ERROR(datadir.check_durability(instance->durability_));
  if (!options.log_bin && roles.needs_log()) {
    return make_error(
        er::kWrongValueForVar,
        "--skip-log-bin: this server belongs to a cluster or replicates, which needs the binary "
        "log. Start it with the log");
  }
  COMMITD_RETURN_IF_ERROR(instance->open_engine(place.open_engine, datadir, options));
  COMMITD_RETURN_IF_ERROR(instance->open_log(place.files, datadir, options, roles));
  return instance;
}

Status Instance::open_engine(const OpenEngine& open, const Datadir& datadir, const Options& options) {
  auto engine = open(rocks_options(datadir, options));
  if (!engine.ok()) return std::move(engine).error();
  engine_ = std::make_unique<storage::EngineRouter>(std::move(*engine));
  catalog_ = std::make_unique<sql::Catalog>(*engine_);
  COMMITD_RETURN_IF_ERROR(catalog_->load());
  COMMITD_RETURN_IF_ERROR(server_.accounts->load(*engine_));
  server_.engine = engine_.get();
  server_.catalog = catalog_.get();
  return {};
}

Status Instance::open_log(FileSystem& fs, const Datadir& datadir, const Options& options,
                          replication::RoleManager& roles) {
  log_files_ = observe::instrumented_log_files(fs);
  binlog::OpenReport found;
  log_options_ = log_options_for(datadir, options);
  if (!options.restore_binlogs.empty()) {
    replication::EventApplier applier(*catalog_, server_);
    COMMITD_RETURN_IF_ERROR(restore_to_point(fs, options, *engine_, applier, log_options_));
  }
  COMMITD_RETURN_IF_ERROR(binlog::CommitPipeline::finish_reset(*log_files_, log_options_, *engine_));
  COMMITD_RETURN_IF_ERROR(binlog::look_for_left_log(*log_files_, log_options_, engine_->replay_position()));
  auto log = open_log_files(options, found);
  if (!log.ok()) return std::move(log).error();
  if (found.truncated_bytes > 0)
    spdlog::warn("cut a torn tail bytes={} file={}", found.truncated_bytes,
                 (*log)->file_name(found.end.file));

  binlog::PipelineOptions pipeline;
  pipeline.server_id = options.server_id;
  pipeline.server_uuid = datadir.server_uuid();
  pipeline.settings = options.commit_settings;
  pipeline.gno_floor = roles.gno_floor();
  pipeline.temporary = {&fs, server_.variables->global("tmpdir").as_string()};
  COMMITD_RETURN_IF_ERROR(remove_temporary_files(pipeline.temporary));
  pipeline.on_replay_progress = [](const binlog::ReplayProgress& now) {
    spdlog::info("replaying transactions={} rows={} bytes={} of={} percent={}", now.transactions, now.rows,
                 now.bytes, now.total_bytes, now.total_bytes == 0 ? 100 : now.bytes * 100 / now.total_bytes);
  };
  applier_ = std::make_unique<replication::EventApplier>(*catalog_, server_);
  pipeline_ = std::make_unique<binlog::CommitPipeline>(std::move(*log), found, *engine_, *applier_, pipeline);
  COMMITD_RETURN_IF_ERROR(recover(found, roles));
  COMMITD_RETURN_IF_ERROR(settle_logging(options));

  start_tables_in_memory();

  auto locking = lock_options(*server_.variables);
  if (!locking.ok()) return std::move(locking).error();
  locking->max_locks = std::min(locking->max_locks, locks_within_budget());
  locks_ = std::make_unique<txn::LockManager>(*locking);
  services_ = std::make_unique<txn::Services>(txn::Services{*engine_, *locks_, *pipeline_});
  roles.attach(*pipeline_);
  COMMITD_RETURN_IF_ERROR(datadir.store_durability({durability_, false}));
  pipeline_->start();
  server_.transactions = services_.get();
  return {};
}

// Without --log-bin, too, what a log has is needed: the engine may lack the end of it.
Result<std::unique_ptr<binlog::Log>> Instance::open_log_files(const Options& options,
                                                              binlog::OpenReport& found) {
  const LogPosition position = engine_->replay_position().position;
  const bool lacks_nothing = position == LogPosition() || position == log_options_.left_at;
  if (!options.log_bin && lacks_nothing && !binlog::Log::exists(*log_files_, log_options_))
    return binlog::Log::none(*log_files_, log_options_);
  return binlog::Log::open(*log_files_, log_options_, position, &found);
}

// What was logged is in the engine now. A log that was left goes on in a new file.
Status Instance::settle_logging(const Options& options) {
  if (!options.log_bin) {
    spdlog::warn("no binary log (--skip-log-bin): replicas get nothing of what is committed now");
    return pipeline_->leave_log();
  }
  const bool never_logged = engine_->replay_position().position.file == 0;
  if (log_options_.left_at == LogPosition() && !never_logged)
    return options.xa ? binlog::reserve_note_of_leaving(*log_files_, log_options_) : Status{};
  COMMITD_RETURN_IF_ERROR(pipeline_->return_to_log());
  auto purged = pipeline_->gtid_purged();
  if (!purged.ok()) return std::move(purged).error();
  spdlog::warn(
      "the binary log goes on in '{}' behind transactions that no file of it has: gtid_purged='{}'. Replicas "
      "that lack them are refused (1236) and must be provisioned anew",
      pipeline_->log().file_name(pipeline_->durable_end().file), purged->to_string());
  return {};
}

Status Instance::recover(const binlog::OpenReport& found, replication::RoleManager& roles) {
  LogPosition from = engine_->replay_position().position;
  // A log is only left by a server that acknowledges by itself.
  const bool was_left = log_options_.left_at != LogPosition();
  LogPosition limit = roles.starts_undecided() && !was_left ? std::max(found.acknowledged, from) : found.end;
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

// Then the data directory may be opened with another commitd_durability.
void Instance::note_clean_end() {
  const bool clean = pipeline_ && !pipeline_->failure() && pipeline_->unapplied_transactions() == 0 &&
                     engine_->recover().empty();
  if (!clean) return;
  if (auto status = datadir_.store_durability({durability_, true}); !status.ok())
    spdlog::error("cannot note the clean shutdown: {}", status.error().message);
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
  if (auto status = engine_->checkpoint(); !status.ok()) {
    spdlog::error("checkpoint at shutdown failed: {}", status.error().message);
  } else {
    note_clean_end();
  }
  services_.reset();
  pipeline_.reset();
  applier_.reset();
  locks_.reset();
  catalog_.reset();
  engine_.reset();
}

}  // namespace commitd::server

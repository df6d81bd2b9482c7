#include "server/instance.h"

#include <spdlog/spdlog.h>

namespace commitd::server {
namespace {

binlog::LogOptions log_options(const Datadir& datadir, const Options& options) {
  binlog::LogOptions log;
  log.directory = datadir.path();
  log.server_id = options.server_id;
  log.server_version = kVersion;
  log.max_file_size = options.max_binlog_size;
  return log;
}

storage::RocksOptions rocks_options(const Datadir& datadir, const Options& options) {
  storage::RocksOptions rocks;
  rocks.directory = datadir.engine_directory();
  rocks.block_cache_bytes = options.block_cache_size;
  rocks.write_buffer_bytes = options.write_buffer_size;
  return rocks;
}

}  // namespace

Status Instance::create(FileSystem& fs, Datadir& datadir, const Options& options,
                        const sql::Accounts& accounts, const std::string& root_password) {
  COMMITD_RETURN_IF_ERROR(datadir.begin_initialization());
  auto engine = storage::open_rocks(rocks_options(datadir, options));
  if (!engine.ok()) return std::move(engine).error();
  binlog::OpenReport found;
  auto log = binlog::Log::open(fs, log_options(datadir, options), LogPosition{}, &found);
  if (!log.ok()) return std::move(log).error();

  WriteSet writes;
  sql::Catalog::initialize(writes);
  accounts.initialize(writes, root_password);
  WriteSet* batch[] = {&writes};
  COMMITD_RETURN_IF_ERROR((*engine)->commit_ordered(batch, {(*log)->end(), {}, 0}));
  COMMITD_RETURN_IF_ERROR((*engine)->checkpoint());
  COMMITD_RETURN_IF_ERROR(datadir.finish_initialization());
  spdlog::info("initialised datadir={} server_uuid={}", datadir.path(), datadir.server_uuid().to_string());
  return {};
}

Result<std::unique_ptr<Instance>> Instance::open(FileSystem& fs, const Datadir& datadir,
                                                 const Options& options, sql::ServerContext& server,
                                                 replication::RoleManager& roles) {
  auto instance = std::unique_ptr<Instance>(new Instance(server));
  COMMITD_RETURN_IF_ERROR(instance->open_engine(datadir, options));
  COMMITD_RETURN_IF_ERROR(instance->open_log(fs, datadir, options, roles));
  return instance;
}

Status Instance::open_engine(const Datadir& datadir, const Options& options) {
  auto engine = storage::open_rocks(rocks_options(datadir, options));
  if (!engine.ok()) return std::move(engine).error();
  engine_ = std::move(*engine);
  catalog_ = std::make_unique<sql::Catalog>(*engine_);
  COMMITD_RETURN_IF_ERROR(catalog_->load());
  COMMITD_RETURN_IF_ERROR(server_.accounts->load(*engine_));
  server_.engine = engine_.get();
  server_.catalog = catalog_.get();
  return {};
}

Status Instance::open_log(FileSystem& fs, const Datadir& datadir, const Options& options,
                          replication::RoleManager& roles) {
  binlog::OpenReport found;
  auto log =
      binlog::Log::open(fs, log_options(datadir, options), engine_->replay_position().position, &found);
  if (!log.ok()) return std::move(log).error();
  if (found.truncated_bytes > 0)
    spdlog::warn("cut a torn tail bytes={} file={}", found.truncated_bytes,
                 (*log)->file_name(found.end.file));

  binlog::PipelineOptions pipeline;
  pipeline.server_id = options.server_id;
  pipeline.server_uuid = datadir.server_uuid();
  pipeline.sync_binlog = options.sync_binlog != 0;
  pipeline.gno_floor = roles.gno_floor();
  applier_ = std::make_unique<replication::EventApplier>(*catalog_, server_);
  pipeline_ = std::make_unique<binlog::CommitPipeline>(std::move(*log), found, *engine_, *applier_, pipeline);
  COMMITD_RETURN_IF_ERROR(recover(found, roles));

  locks_ = std::make_unique<txn::LockManager>();
  services_ = std::make_unique<txn::Services>(txn::Services{*engine_, *locks_, *pipeline_});
  roles.attach(*pipeline_);
  pipeline_->start();
  server_.transactions = services_.get();
  return {};
}

Status Instance::recover(const binlog::OpenReport& found, replication::RoleManager& roles) {
  LogPosition from = engine_->replay_position().position;
  LogPosition limit = roles.starts_undecided() ? std::max(found.acknowledged, from) : found.end;
  auto replayed = pipeline_->replay(std::min(limit, found.end));
  if (!replayed.ok()) return std::move(replayed).error();
  spdlog::info("recovered from={}:{} to={}:{} transactions={} rows={} unacknowledged={}", from.file,
               from.offset, limit.file, limit.offset, replayed->transactions, replayed->rows,
               pipeline_->unapplied_transactions());
  return {};
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
  if (auto status = engine_->checkpoint(); !status.ok())
    spdlog::error("checkpoint at shutdown failed: {}", status.error().message);
  services_.reset();
  pipeline_.reset();
  applier_.reset();
  locks_.reset();
  catalog_.reset();
  engine_.reset();
}

}  // namespace commitd::server

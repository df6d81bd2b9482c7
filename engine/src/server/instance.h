// What hangs on an initialised data directory: storage engine, log, commit pipeline, catalog. Opening one is
// recovery.
#pragma once

#include <functional>
#include <memory>

#include "commit/commit_pipeline.h"
#include "replication/event_applier.h"
#include "server/instance_settings.h"
#include "sql/accounts/accounts.h"
#include "sql/catalog.h"
#include "sql/server_context.h"
#include "storage/engine_router.h"
#include "txn/lock_manager.h"
#include "txn/transaction.h"

namespace commitd::server {

using OpenEngine = std::function<Result<std::unique_ptr<storage::Engine>>(const storage::RocksOptions&)>;

// Where an instance keeps what it has.
struct Place {
  FileSystem& files;
  const OpenEngine& open_engine;
};

class Instance {
 public:
  // Makes the engine's system tables and the first log file in an empty place.
  static Status create(const Place& place, const InstanceSettings& settings, const sql::Accounts& accounts,
                       const std::string& root_password);

  // Opens engine and log, cuts a torn tail, replays what the engine lacks, and publishes everything in
  // `server`. Corruption is an error and changes nothing.
  static Result<std::unique_ptr<Instance>> open(const Place& place, InstanceSettings settings,
                                                sql::ServerContext& server);

  // The steps of open(), for who stops in between.
  Instance(InstanceSettings settings, sql::ServerContext& server)
      : settings_(std::move(settings)), server_(server) {}
  Status open_engine(const OpenEngine& open);
  Result<std::unique_ptr<binlog::Log>> open_log(FileSystem& fs, binlog::OpenReport& found);
  Status start(std::unique_ptr<binlog::Log> log, const binlog::OpenReport& found);

  ~Instance();

  binlog::CommitPipeline& pipeline() { return *pipeline_; }
  storage::EngineRouter& engine() { return *engine_; }
  sql::Catalog& catalog() { return *catalog_; }
  replication::EventApplier& applier() { return *applier_; }
  const binlog::LogOptions& log_options() const { return settings_.log; }

  // Finishes commits, makes the engine durable and takes everything back out of `server`. Sessions must have
  // ended.
  void close();

 private:
  Result<std::unique_ptr<binlog::Log>> open_log_files(binlog::OpenReport& found);
  Status recover(const binlog::OpenReport& found);
  Status settle_logging();
  void start_tables_in_memory();
  bool is_clean() const;
  void end_cleanly();

  InstanceSettings settings_;
  sql::ServerContext& server_;
  std::unique_ptr<FileSystem> log_files_;
  std::unique_ptr<storage::EngineRouter> engine_;
  std::unique_ptr<sql::Catalog> catalog_;
  std::unique_ptr<txn::LockManager> locks_;
  std::unique_ptr<replication::EventApplier> applier_;
  std::unique_ptr<binlog::CommitPipeline> pipeline_;
  std::unique_ptr<txn::Services> services_;
};

}  // namespace commitd::server

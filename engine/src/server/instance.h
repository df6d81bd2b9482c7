// What hangs on an initialised data directory: storage engine, log, commit pipeline, catalog. Opening one is
// recovery.
#pragma once

#include <functional>
#include <memory>

#include "commit/commit_pipeline.h"
#include "replication/event_applier.h"
#include "replication/role_manager.h"
#include "server/datadir.h"
#include "server/options.h"
#include "server/point_in_time.h"
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
  // Makes the engine's system tables and the first log file in an empty data directory.
  static Status create(const Place& place, Datadir& datadir, const Options& options,
                       const sql::Accounts& accounts, const std::string& root_password);

  // Opens engine and log, cuts a torn tail, replays what the engine lacks (on a server that waits for its
  // role: only what is known to be acknowledged), and publishes everything in `server`. Corruption is an
  // error and changes nothing.
  static Result<std::unique_ptr<Instance>> open(const Place& place, const Datadir& datadir,
                                                const Options& options, sql::ServerContext& server,
                                                replication::RoleManager& roles);
  ~Instance();

  binlog::CommitPipeline& pipeline() { return *pipeline_; }
  storage::EngineRouter& engine() { return *engine_; }
  const binlog::LogOptions& log_options() const { return log_options_; }

  // Finishes commits, makes the engine durable and takes everything back out of `server`. Sessions must have
  // ended.
  void close();

 private:
  Instance(sql::ServerContext& server, const Datadir& datadir, Durability durability)
      : server_(server), datadir_(datadir), durability_(durability) {}
  Status open_engine(const OpenEngine& open, const Datadir& datadir, const Options& options);
  Status open_log(FileSystem& fs, const Datadir& datadir, const Options& options,
                  replication::RoleManager& roles);
  Result<std::unique_ptr<binlog::Log>> open_log_files(const Options& options, binlog::OpenReport& found);
  Status recover(const binlog::OpenReport& found, replication::RoleManager& roles);
  Status settle_logging(const Options& options);

  void start_tables_in_memory();
  void note_clean_end();

  sql::ServerContext& server_;
  std::unique_ptr<FileSystem> log_files_;
  const Datadir& datadir_;
  const Durability durability_;
  std::unique_ptr<storage::EngineRouter> engine_;
  std::unique_ptr<sql::Catalog> catalog_;
  std::unique_ptr<txn::LockManager> locks_;
  std::unique_ptr<replication::EventApplier> applier_;
  std::unique_ptr<binlog::CommitPipeline> pipeline_;
  std::unique_ptr<txn::Services> services_;
  binlog::LogOptions log_options_;
};

}  // namespace commitd::server

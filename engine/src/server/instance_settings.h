// What an instance is opened with. The server takes it from options, data directory and role; a test makes
// its own.
#pragma once

#include <functional>

#include "commit/commit_pipeline.h"
#include "replication/role_manager.h"
#include "server/datadir.h"
#include "server/options.h"
#include "sql/variables/system_variables.h"
#include "storage/engine.h"
#include "txn/lock_manager.h"

namespace commitd::server {

struct InstanceSettings {
  storage::RocksOptions engine;
  std::shared_ptr<const storage::GtidSettings> gtids = std::make_shared<storage::GtidSettings>();
  binlog::LogOptions log;
  binlog::PipelineOptions pipeline;
  txn::LockManager::Options locks;
  bool log_bin = true;
  bool relay_log_recovery = false;  // what was received and is not in the engine is thrown away
  // How much of the log is shown at first, `acknowledged` being known to be; nullopt: all of it.
  std::function<std::optional<LogPosition>(LogPosition acknowledged)> apply_limit = [](LogPosition) {
    return std::nullopt;
  };
  bool checkpoint_at_end = true;  // false: as a process that dies

  // What others do on the way. The engine is there, the log is not opened yet:
  std::function<Status(storage::Engine&, binlog::EventApplier&, const binlog::LogOptions&)> before_log =
      [](auto&, auto&, auto&) { return Status(); };
  // Recovery is over, nothing is committed yet:
  std::function<Status(binlog::CommitPipeline&)> recovered = [](auto&) { return Status(); };
  // All of the log is in the engine's files, and nothing is prepared:
  std::function<void()> ended_cleanly = [] {};
};

Durability durability_of(const Options& options);
binlog::LogOptions log_options(const Datadir& datadir, const Options& options);

// An error where options, an initialised data directory and its role do not go together.
Status check_before_open(const Options& options, const Datadir& datadir,
                         const replication::RoleManager& roles);

Result<InstanceSettings> instance_settings(FileSystem& fs, const Options& options, const Datadir& datadir,
                                           const sql::SystemVariables& variables,
                                           replication::RoleManager& roles, plugins::Observers* observers);

}  // namespace commitd::server

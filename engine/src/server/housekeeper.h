// What a server does to its files besides committing: checkpoints of the storage engine, so that a start has
// little to replay; purging of its garbage; removal of expired log files; and, when a statement asks, purges
// of the log and backups.
#pragma once

#include <chrono>
#include <string>

#include "commit/commit_pipeline.h"
#include "replication/role_manager.h"
#include "replication/signal.h"
#include "runtime/reactor.h"
#include "runtime/worker_thread.h"
#include "server/backup.h"
#include "sql/maintenance.h"
#include "sql/variables/system_variables.h"
#include "storage/engine.h"
#include "storage/purging.h"

namespace commitd::server {

class Housekeeper final : public sql::Maintenance {
 public:
  Housekeeper(BackupSource source, binlog::CommitPipeline& pipeline, const sql::SystemVariables& variables,
              replication::RoleManager& roles);

  // The regular work, on the reactor it is started on.
  Task<void> run();
  // Ends run(); on its reactor. No statement may ask for anything any more.
  Task<void> stop();

  Task<Status> checkpoint() override;
  Task<Result<binlog::PurgeReport>> purge_logs(uint32_t first_kept) override;
  Task<Status> reset_logs() override;
  Task<Result<sql::BackupReport>> backup(std::string directory) override;

 private:
  bool checkpoint_is_due();
  bool purge_is_due();
  Task<void> purge_garbage();
  Task<void> purge_old_logs();
  Task<void> purge_applied_relay_logs();
  Result<uint32_t> first_log_to_keep(const std::vector<binlog::LogFileInfo>& files) const;
  uint64_t setting(const char* name) const { return variables_.global(name).as_uint(); }

  const BackupSource source_;
  storage::Engine& engine_;
  storage::Purging* const purging_;  // null: there is no garbage
  binlog::CommitPipeline& pipeline_;
  const sql::SystemVariables& variables_;
  replication::RoleManager& roles_;
  WorkerThread flusher_{"checkpoints"}, copier_{"backups"}, purger_{"purge"};

  // On the reactor of run().
  replication::Signal wake_, ended_;
  bool stopping_ = false, running_ = false;
  LogPosition flushed_;              // where the last look found the engine
  Clock::time_point flushed_since_;  // since when it has been there with something left to flush
  bool purging_round_ = false;
  uint64_t left_by_purge_ = 0;  // garbage that the last round could not take: somebody still sees it
};

}  // namespace commitd::server

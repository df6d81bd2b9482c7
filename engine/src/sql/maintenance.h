// What statements ask of the server's housekeeping: work on files that must not block a session's reactor.
#pragma once

#include <cstdint>
#include <string>

#include "base/log_position.h"
#include "base/result.h"
#include "gtid/gtid_set.h"
#include "log/log.h"
#include "runtime/task.h"

namespace commitd::sql {

class CloneControl;  // sql/clone_control.h

struct BackupReport {
  std::string log_file;  // the transaction behind which the backup stands ends here
  uint64_t log_position = 0;
  GtidSet executed;
};

class Maintenance {
 public:
  virtual ~Maintenance() = default;
  // Everything that is committed is durable in the storage engine when it returns.
  virtual Task<Status> checkpoint() = 0;
  // Removes log files before `first_kept`, none that a reader or recovery needs; a checkpoint first where
  // that helps.
  virtual Task<Result<binlog::PurgeReport>> purge_logs(uint32_t first_kept) = 0;
  // Error 1290 or 3190, and nothing changed, where somebody may still need the log.
  virtual Task<Status> reset_logs() = 0;
  // A data directory that a server can be started on, in a directory that does not exist yet.
  virtual Task<Result<BackupReport>> backup(std::string directory) = 0;
  // There also while the server has no data.
  virtual CloneControl* clones() { return nullptr; }
};

}  // namespace commitd::sql

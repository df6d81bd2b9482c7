// Hot backups: a copy of the data directory as of one transaction, which a server can be started on.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "log/log.h"
#include "server/datadir.h"
#include "sql/maintenance.h"
#include "storage/engine.h"

namespace commitd::server {

struct BackupSource {
  FileSystem* fs = nullptr;
  storage::Engine* engine = nullptr;
  binlog::LogOptions log;  // of the running server
};

// Makes `directory`, which must not exist: the engine's files (hard links where the file system allows it), a
// log that begins behind them, and no server UUID: a server on it is another server. Commits go on meanwhile.
// The file that makes it a data directory is written last, so that half a backup is refused.
Result<sql::BackupReport> make_backup(const BackupSource& source, const std::string& directory);

}  // namespace commitd::server

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
  const binlog::Log* files = nullptr;
};

// Makes `directory`, which must not exist: the engine's files (hard links where the file system allows it), a
// log that begins behind them, and no server UUID: a server on it is another server. Commits go on meanwhile.
// The file that makes it a data directory is written last, so that half a backup is refused.
Result<sql::BackupReport> make_backup(const BackupSource& source, const std::string& directory);

// A copy whose engine's files are there already, and are durable.
struct CopyOfData {
  std::string directory;
  LogPosition position;
  GtidSet executed;
  bool own_log = false;
  std::string info_file, info;  // kept beside it
};
// The rest of it, and at last the file that makes it a data directory.
Status complete_copy(FileSystem& fs, const binlog::LogOptions& log, const CopyOfData& copy);
// What mysqldump says in a comment and xtrabackup in xtrabackup_binlog_info.
std::string place_in_log(const std::string& file, uint64_t position, const GtidSet& executed);
// The path, normal; errors 1210 and 1086 name the statement.
Result<std::string> new_directory_outside(FileSystem& fs, const std::string& datadir,
                                          const std::string& wanted, std::string_view statement);

}  // namespace commitd::server

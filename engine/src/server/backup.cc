#include "server/backup.h"

#include <spdlog/spdlog.h>

#include <filesystem>

#include "base/error_codes.h"

namespace commitd::server {
namespace {

constexpr const char* kInfoFile = "/commitd_backup_info";

Result<std::string> checked_directory(const BackupSource& source, const std::string& directory) {
  std::filesystem::path path(directory);
  if (!path.is_absolute())
    return make_error(er::kWrongArguments, "BACKUP TO: '{}' is not an absolute path", directory);
  path = path.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (source.fs->exists(path.string()))
    return make_error(er::kFileExists, "File '{}' already exists", path.string());
  std::error_code ignored;
  const auto parent = std::filesystem::weakly_canonical(path.parent_path(), ignored).string() + "/";
  const auto data = std::filesystem::weakly_canonical(source.log.directory, ignored).string() + "/";
  if (parent.starts_with(data)) {
    return make_error(er::kWrongArguments, "BACKUP TO: '{}' is inside the data directory '{}'", directory,
                      source.log.directory);
  }
  return path.string();
}

// What mysqldump says in a comment and xtrabackup in xtrabackup_binlog_info.
std::string info_text(const sql::BackupReport& report) {
  return fmt::format("{}\t{}\t{}\n", report.log_file, report.log_position, report.executed.to_string());
}

// With xa the copy has what was prepared in its moment: only a start with xa rolls that back.
Datadir::DurabilityState durability_of_copy(const storage::Engine& engine) {
  const bool xa = engine.has_own_log();
  return {xa ? Durability::Xa : Durability::SingleLog, !xa};
}

Result<sql::BackupReport> copy_into(const BackupSource& source, const std::string& directory) {
  auto point = source.engine->backup_to(Datadir::engine_directory_in(directory));
  if (!point.ok()) return std::move(point).error();
  COMMITD_RETURN_IF_ERROR(source.fs->sync_directory(Datadir::engine_directory_in(directory)));
  binlog::LogOptions log = source.log;
  log.directory = directory;
  log.initial_gtids = point->executed;
  COMMITD_RETURN_IF_ERROR(binlog::create_log(*source.fs, log, point->position.file + 1));
  sql::BackupReport report;
  if (point->position.file != 0) {  // 0: of a server that never had a log
    report.log_file = binlog::log_file_name(log, point->position.file);
    report.log_position = point->position.offset;
  }
  report.executed = point->executed;
  COMMITD_RETURN_IF_ERROR(write_file_atomically(*source.fs, directory + kInfoFile, info_text(report)));
  COMMITD_RETURN_IF_ERROR(
      Datadir::store_durability_in(*source.fs, directory, durability_of_copy(*source.engine)));
  COMMITD_RETURN_IF_ERROR(Datadir::mark_initialized(*source.fs, directory));
  return report;
}

}  // namespace

Result<sql::BackupReport> make_backup(const BackupSource& source, const std::string& wanted) {
  auto directory = checked_directory(source, wanted);
  if (!directory.ok()) return std::move(directory).error();
  COMMITD_RETURN_IF_ERROR(source.fs->make_directory(*directory));
  auto report = copy_into(source, *directory);
  if (!report.ok()) {
    std::error_code ignored;
    std::filesystem::remove_all(*directory, ignored);
    return report;
  }
  COMMITD_RETURN_IF_ERROR(
      source.fs->sync_directory(std::filesystem::path(*directory).parent_path().string()));
  spdlog::info("backup made directory={} position={}:{}", *directory, report->log_file, report->log_position);
  return report;
}

}  // namespace commitd::server

#include "server/backup.h"

#include <spdlog/spdlog.h>

#include <filesystem>

#include "base/error_codes.h"

namespace commitd::server {
namespace {

constexpr const char* kInfoFile = "commitd_backup_info";

Result<sql::BackupReport> copy_into(const BackupSource& source, const std::string& directory) {
  auto point = source.engine->backup_to(Datadir::engine_directory_in(directory));
  if (!point.ok()) return std::move(point).error();
  COMMITD_RETURN_IF_ERROR(source.fs->sync_directory(Datadir::engine_directory_in(directory)));
  sql::BackupReport report;
  if (point->position.file != 0) {  // 0: of a server that never had a log
    const LogPosition place = source.files->binary_end(point->position);
    report.log_file = source.files->file_name(place.file);
    report.log_position = place.offset;
  }
  report.executed = std::move(point->executed);
  const std::string info = place_in_log(report.log_file, report.log_position, report.executed);
  COMMITD_RETURN_IF_ERROR(complete_copy(
      *source.fs, source.log,
      {directory, point->position, report.executed, source.engine->has_own_log(), kInfoFile, info}));
  return report;
}

}  // namespace

std::string place_in_log(const std::string& file, uint64_t position, const GtidSet& executed) {
  return fmt::format("{}\t{}\t{}\n", file, position, executed.to_string());
}

Result<std::string> new_directory_outside(FileSystem& fs, const std::string& datadir,
                                          const std::string& wanted, std::string_view statement) {
  std::filesystem::path path(wanted);
  if (!path.is_absolute())
    return make_error(er::kWrongArguments, "{}: '{}' is not an absolute path", statement, wanted);
  path = path.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (fs.exists(path.string())) return make_error(er::kFileExists, "File '{}' already exists", path.string());
  std::error_code ignored;
  const auto parent = std::filesystem::weakly_canonical(path.parent_path(), ignored).string() + "/";
  const auto data = std::filesystem::weakly_canonical(datadir, ignored).string() + "/";
  if (parent.starts_with(data)) {
    return make_error(er::kWrongArguments, "{}: '{}' is inside the data directory '{}'", statement, wanted,
                      datadir);
  }
  return path.string();
}

// With xa the copy has what was prepared in its moment: only a start with xa rolls that back.
Status complete_copy(FileSystem& fs, const binlog::LogOptions& log_of_server, const CopyOfData& copy) {
  binlog::LogOptions log = log_of_server;
  log.directory = copy.directory;
  log.initial_gtids = copy.executed;
  COMMITD_RETURN_IF_ERROR(binlog::create_log(fs, log, copy.position.file + 1));
  COMMITD_RETURN_IF_ERROR(write_file_atomically(fs, copy.directory + "/" + copy.info_file, copy.info));
  const Datadir::DurabilityState durability{copy.own_log ? Durability::Xa : Durability::SingleLog,
                                            !copy.own_log};
  COMMITD_RETURN_IF_ERROR(Datadir::store_durability_in(fs, copy.directory, durability));
  return Datadir::mark_initialized(fs, copy.directory);
}

Result<sql::BackupReport> make_backup(const BackupSource& source, const std::string& wanted) {
  auto directory = new_directory_outside(*source.fs, source.log.directory, wanted, "BACKUP TO");
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

// RESET BINARY LOGS AND GTIDS: the log forgets everything and starts anew.
#include "base/error_codes.h"
#include "log/log_impl.h"

namespace commitd::binlog {
namespace {

std::string note_path(const LogOptions& options) {
  return fmt::format("{}/{}.reset", options.directory, options.base_name);
}

}  // namespace

LogPosition reset_position() {
  return {kFirstFileAfterReset, kFileMagic.size()};
}

Status note_reset(FileSystem& fs, const LogOptions& options) {
  return write_file_atomically(fs, note_path(options), log_file_name(options, kFirstFileAfterReset) + "\n");
}

bool reset_is_noted(FileSystem& fs, const LogOptions& options) {
  return fs.exists(note_path(options));
}

// The note goes last: until then every step is done again after a crash.
Status replace_log(FileSystem& fs, const LogOptions& options) {
  LogOptions empty = options;
  empty.initial_gtids = {};
  auto numbers = LogIndex(fs, options.directory, options.base_name).numbers_on_disk();
  if (!numbers) return std::move(numbers).error();
  for (uint32_t number : *numbers)
    COMMITD_RETURN_IF_ERROR(fs.remove(options.directory + "/" + log_file_name(options, number)));
  for (const std::string& path : {added_purged_path(options), cut_note_path(options)}) {
    if (fs.exists(path)) COMMITD_RETURN_IF_ERROR(fs.remove(path));
  }
  COMMITD_RETURN_IF_ERROR(create_log(fs, empty, kFirstFileAfterReset));
  COMMITD_RETURN_IF_ERROR(fs.sync_directory(options.directory));
  COMMITD_RETURN_IF_ERROR(fs.remove(note_path(options)));
  return fs.sync_directory(options.directory);
}

Status Log::Impl::check_unread() {
  MutexLock lock(mutex);
  if (holds.empty()) return {};
  return make_error(er::kCantResetSource,
                    "RESET BINARY LOGS AND GTIDS is not allowed because {} reader(s) of the binary log are "
                    "connected",
                    holds.size());
}

Status Log::Impl::reset() {
  usable = false;  // until it is whole again
  writer.reset();
  COMMITD_RETURN_IF_ERROR(replace_log(fs, options));
  LogPosition start;
  {
    MutexLock lock(mutex);
    auto loaded = index.load();
    if (!loaded) return std::move(loaded).error();
    file_states.clear();
    has_relay = false;
    pages.drop_behind({});
    added_purged = {};
    auto file = reader(kFirstFileAfterReset);
    if (!file) return std::move(file).error();
    auto size = (*file)->size();
    if (!size) return std::move(size).error();
    start = {kFirstFileAfterReset, *size};
  }
  COMMITD_RETURN_IF_ERROR(open_writer(start));
  usable = true;
  return {};
}

}  // namespace commitd::binlog

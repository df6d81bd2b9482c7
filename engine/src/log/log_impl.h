// What the parts of Log share: log_open.cc (opening and recovery), log.cc (the writer's side), log_read.cc
// (the readers').
#pragma once

#include <atomic>
#include <map>
#include <set>

#include "log/log.h"
#include "log/log_file.h"
#include "log/log_index.h"
#include "log/recent_pages.h"
#include "observe/mutex.h"

namespace commitd::binlog {

// ER_CANT_RESET_SOURCE.

std::string added_purged_path(const LogOptions& options);  // what SET GLOBAL gtid_purged said
std::string cut_note_path(const LogOptions& options);      // there while a cut takes files away

class Log::Impl {
 public:
  Impl(FileSystem& file_system, LogOptions log_options)
      : fs(file_system),
        options(std::move(log_options)),
        max_file_size(options.max_file_size),
        index(fs, options.directory, options.base_name),
        pages(options.memory_bytes) {}

  // log_open.cc
  Status open(LogPosition scan_from, OpenReport& report);
  // log.cc
  Status append(std::shared_ptr<const std::string> bytes);
  Status append_part(std::string_view bytes, bool is_last);
  Status rotate(const GtidSet& logged, LogKind kind);
  Status cut(LogPosition position);
  Result<PurgeReport> purge(uint32_t first_kept);
  Status reset();         // log_reset.cc
  Status check_unread();  // log_reset.cc
  Status start_new_file(uint32_t number, const GtidSet& previous, LogKind kind = LogKind::Binary);
  Status sync_writer();
  EventOrigin origin() const;
  // log_retention.cc
  Result<uint32_t> first_written_since(int64_t time);
  Result<GtidSet> purged();
  Status load_added_purged();
  Status add_purged(const GtidSet& gtids);
  uint64_t bytes_between(LogPosition from, LogPosition to);
  // log_read.cc
  Result<LogChunk> read(LogPosition from, LogPosition limit, size_t max_bytes);
  Result<GtidSet> previous_gtids(uint32_t file);
  Result<LogFileHeader> header(uint32_t file);
  Result<LogPosition> start_for(const GtidSet& have, const GtidSet& gone);
  std::vector<LogFileInfo> files(std::optional<LogKind> kind);
  Result<uint32_t> file_number(std::string_view name, LogKind kind);
  // log_relay.cc
  bool skip_relay_files(LogPosition& from, LogPosition limit);
  LogPosition binary_end(LogPosition at);
  Result<size_t> purge_relay(uint32_t first_kept);
  Result<GtidSet> in_relay_files(const std::vector<uint32_t>& files, const GtidSet& logged);

  FileSystem& fs;
  const LogOptions options;
  std::atomic<uint64_t> max_file_size;

  // --- writer ---
  std::unique_ptr<File> writer;
  uint64_t reserved_to = 0;         // preallocated, or full of zeros
  std::atomic<bool> usable = true;  // a sync may fail on another thread

  // --- shared ---
  struct FileState {
    uint64_t size = 0;
    std::optional<LogFileHeader> header;
    std::shared_ptr<File> reader;
  };
  observe::Mutex mutex{"wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_binlog_end_pos"};
  // Changed by the writer alone, under `mutex`: the writer itself reads them without.
  LogIndex index;
  LogPosition end;
  std::map<uint32_t, FileState> file_states ABSL_GUARDED_BY(mutex);
  RecentPages pages ABSL_GUARDED_BY(mutex);
  std::multiset<uint32_t> holds ABSL_GUARDED_BY(mutex);
  GtidSet added_purged ABSL_GUARDED_BY(mutex);  // what SET GLOBAL gtid_purged said, and was in the relay log
  std::atomic<bool> has_relay = false;  // some of the files are the relay log's, or were since it was opened

 private:
  Status write_behind_end(std::string_view bytes, std::string_view filler);
  void move_end(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  Status open_first(LogPosition scan_from);
  Status open_files();
  Status drop_behind(LogPosition left_at);
  Status drop_relay_tail(LogPosition applied);
  Status forget_behind(uint32_t last_kept, std::vector<std::string>& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  Status remove_unlisted_files(LogPosition scan_from);
  Status check_unlisted_file(uint32_t number, LogKind kind, LogPosition scan_from);
  Status scan(LogPosition scan_from, OpenReport& report);
  struct FileScan;
  Result<FileScan> scan_file(uint32_t number, OpenReport& report);
  Status check_previous(uint32_t number, const FileScan& found, const GtidSet& in_front) const;
  static bool fits_its_place(const GroupOpen& group, const GroupOpen& before, LogPosition at);
  Status finish_last_file(uint32_t number, const FileScan& found, OpenReport& report);
  Result<std::optional<uint64_t>> later_group(uint32_t number, uint64_t behind);
  Status open_writer(LogPosition at);
  void reserve(uint64_t up_to);
  bool write_zeros(uint64_t from, uint64_t to);
  std::string filler(uint64_t at) const;
  Status trim();
  Result<bool> is_filler(uint32_t number, uint64_t from);
  Result<std::shared_ptr<File>> reader(uint32_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // The same, and its size.
  Result<std::pair<std::shared_ptr<File>, uint64_t>> open_file(uint32_t number);
};

}  // namespace commitd::binlog

// The files of the binlog: index, append, sync, rotation, purge, cutting, reading. One writer (the pipeline's
// log thread); any number of readers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/log_position.h"
#include "base/result.h"
#include "binlog/events.h"
#include "gtid/gtid_set.h"
#include "log/log_kind.h"

namespace commitd::binlog {

struct LogOptions {
  std::string directory;
  std::string base_name = "binlog";
  uint64_t max_file_size = 1ull << 30;
  uint64_t preallocate_bytes = 16ull << 20;
  // Not 0: the file is written full of zeros so far ahead of its end, instead of only preallocated. A sync
  // then finds neither a new size nor new extents to write into the file system's journal.
  uint64_t prefill_bytes = 0;
  uint32_t server_id = 1;
  std::string server_version;
  uint64_t memory_bytes = 32ull << 20;  // recent log kept in memory for readers
  GtidSet initial_gtids;  // of a datadir that came without a log (a clone): PREVIOUS_GTIDS of its first file
  // Where it was left (left_log.h); {}: it was not. What stands behind is taken away, and the engine may be
  // ahead of what is there.
  LogPosition left_at = {};
  // relay_log_recovery: where the engine stands, when what the relay log has behind that is to be thrown
  // away.
  LogPosition relay_recovery_at = {};
};

struct LogFileInfo {
  uint32_t number = 0;
  std::string name;
  uint64_t size = 0;
};

// Whole events, back to back, from `start` on; `storage` keeps `bytes` alive. Never spans two files.
struct LogChunk {
  std::shared_ptr<const std::string> storage;
  std::string_view bytes;
  LogPosition start;
};

// What a purge did, and why it stopped where it did.
struct PurgeReport {
  uint32_t first_kept = 0;  // the oldest file there is now
  size_t wanted = 0, removed = 0;
  size_t readers = 0;                // that still need the oldest file
  std::vector<std::string> missing;  // files the index named that somebody had removed already
};

// What opening found.
struct OpenReport {
  LogPosition end;               // end of the last complete transaction
  uint64_t truncated_bytes = 0;  // torn tail that was cut
  GtidSet logged;                // GTIDs in all files, and purged ones
  GtidSet purged;
  uint64_t last_epoch = 0;   // 0 when the scanned part has no epoch transaction
  LogPosition acknowledged;  // greatest acknowledged position that a group header names
  uint64_t last_group = 0;
  int64_t last_sequence_number = 0;  // of the last transaction in the last file
};

// A log without transactions, whose only file has this number; PREVIOUS_GTIDS are options.initial_gtids. A
// log that is there already is replaced.
Status create_log(FileSystem& fs, const LogOptions& options, uint32_t number);
std::string log_file_name(const LogOptions& options, uint32_t number);  // "binlog.000007"

// RESET BINARY LOGS AND GTIDS: the log starts anew in a file of this number, and the engine's commit point
// with it. Three steps, each durable: note_reset() decides it; then whoever holds the engine puts its commit
// point to reset_position(); then replace_log() exchanges the files and removes the note. A start that finds
// the note does the last two again.
inline constexpr uint32_t kFirstFileAfterReset = 1;
LogPosition reset_position();
Status note_reset(FileSystem& fs, const LogOptions& options);
bool reset_is_noted(FileSystem& fs, const LogOptions& options);
Status replace_log(FileSystem& fs, const LogOptions& options);

class Log {
 public:
  // Creates the first file in an empty directory. `scan_from`: the engine's replay position; files before it
  // are only read for their PREVIOUS_GTIDS. Damage that a later group follows is corruption: an error with
  // file and offset, nothing changed.
  static Result<std::unique_ptr<Log>> open(FileSystem& fs, LogOptions options, LogPosition scan_from,
                                           OpenReport* report);
  // A log without files, for a server that never had one (--skip-log-bin): nothing may be written to it.
  static std::unique_ptr<Log> none(FileSystem& fs, LogOptions options);
  static bool exists(FileSystem& fs, const LogOptions& options);
  ~Log();

  // --- writer side: one thread ---
  LogPosition end() const;  // where the next byte goes
  // One pwritev; not durable yet. `bytes` are whole events with positions and checksums already right for
  // end(). After an error nothing of them is in the file; where even that failed, usable() is false: the
  // server must stop.
  Status append(std::shared_ptr<const std::string> bytes);
  // A part of what is too large for one write: the same, but readers find it in the file only, and what was
  // appended before it stays when it fails (cut() takes it back).
  Status append_part(std::string_view bytes, bool is_last);
  bool usable() const;
  Status sync();  // one fdatasync; an error is final: the server must stop
  // ROTATE event, new file (FDE, PREVIOUS_GTIDS of `logged`), index and directory durable. A binary log file
  // that the relay log follows ends with STOP: nobody can say yet what the next one's name is.
  Status rotate(const GtidSet& logged, LogKind kind = LogKind::Binary);
  LogKind kind() const;  // of the file that is written
  bool wants_rotation() const;
  // True when `bytes` more would not fit 32-bit positions in this file.
  bool would_overflow(uint64_t bytes) const;
  // replace_log() while it is open. An error when a reader holds a file.
  Status reset();
  Status check_unread() const;  // error 3190 when a reader holds a file
  FileSystem& file_system() const;
  const LogOptions& options() const;
  // Removes everything behind `position` (a transaction boundary), later files included.
  Status cut(LogPosition position);

  // --- readers: any thread ---
  // The next whole events from `from` on, up to `limit` and about `max_bytes`; empty bytes when from ==
  // limit. When `from` is the end of a finished file the chunk starts in the next one (chunk.start tells).
  Result<LogChunk> read(LogPosition from, LogPosition limit, size_t max_bytes);
  // The same without the relay log's files: where only those are left in front of `limit`, the chunk is empty
  // and starts there.
  Result<LogChunk> read_binary(LogPosition from, LogPosition limit, size_t max_bytes);
  Result<std::vector<LogFileInfo>> files(LogKind kind = LogKind::Binary) const;
  Result<std::vector<LogFileInfo>> all_files() const;
  std::string file_name(uint32_t number) const;  // "binlog.000007"
  // Error 1236 for a file that is not in the index.
  Result<uint32_t> file_number(std::string_view name, LogKind kind = LogKind::Binary) const;
  // As far as the binary log goes in front of a place, which may be in the relay log.
  LogPosition binary_end(LogPosition at) const;
  // PREVIOUS_GTIDS of a file.
  Result<GtidSet> previous_gtids(uint32_t file);
  // Where a reader that has `have` must start: the beginning of the newest file whose PREVIOUS_GTIDS are
  // within `have`. Error 1236 when purged, or when some of `gone` is missing.
  Result<LogPosition> start_for(const GtidSet& have, const GtidSet& gone = {});
  // Deletes binary log files before `first_kept`, but none from the first one on that a reader holds, nor the
  // one being written.
  Result<PurgeReport> purge(uint32_t first_kept);
  // The first file that was still written to at `time` (seconds since 1970): what PURGE … BEFORE keeps.
  Result<uint32_t> first_written_since(int64_t time);
  // Deletes the relay log's files before `first_kept`, but not the one that is written; their transactions
  // join purged(). For the writer's thread. Returns how many.
  Result<size_t> purge_relay(uint32_t first_kept);
  // The transactions that stand in files of the relay log, given all that are logged.
  Result<GtidSet> in_relay_files(const GtidSet& logged);
  // Transactions that count as executed and that no file has (gtid_purged).
  Result<GtidSet> purged();
  // SET GLOBAL gtid_purged: `gtids` join purged(); durable when it returns.
  Status add_purged(const GtidSet& gtids);
  // Bytes of log from one position to a later one, over all files between.
  uint64_t bytes_between(LogPosition from, LogPosition to) const;
  void set_max_file_size(uint64_t bytes);  // any thread

  // A reader's claim on the files from one on; given back when destroyed. Must not outlive the log.
  class Hold;
  std::unique_ptr<Hold> hold(uint32_t first_needed);

  class Impl;

 private:
  explicit Log(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Log::Hold {
 public:
  Hold(Impl& log, uint32_t first_needed);
  ~Hold();
  Hold(const Hold&) = delete;
  void move_to(uint32_t first_needed);

 private:
  Impl& log_;
  uint32_t first_needed_;
};

}  // namespace commitd::binlog

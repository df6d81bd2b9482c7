// The files of the binlog: index, append, sync, rotation, purge, cutting, reading. One writer (the pipeline's log thread); any number of readers.
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

namespace commitd::binlog {

struct LogOptions {
  std::string directory;
  std::string base_name = "binlog";
  uint64_t max_file_size = 1ull << 30;
  uint64_t preallocate_bytes = 16ull << 20;
  uint32_t server_id = 1;
  std::string server_version;
  uint64_t memory_bytes = 32ull << 20;  // recent log kept in memory for readers
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

// What opening found.
struct OpenReport {
  LogPosition end;                 // end of the last complete group
  uint64_t truncated_bytes = 0;    // torn tail that was cut
  GtidSet logged;                  // GTIDs in all files, and purged ones
  GtidSet purged;
  uint64_t last_epoch = 0;         // 0 when the scanned part has no epoch transaction
  LogPosition acknowledged;        // greatest acknowledged position that a group header names
  uint64_t last_group = 0;
};

class Log {
 public:
  // Creates the first file in an empty directory. `scan_from`: the engine's replay position; files before it are only read for their
  // PREVIOUS_GTIDS. Damage that a later group follows is corruption: an error with file and offset, nothing changed.
  static Result<std::unique_ptr<Log>> open(FileSystem& fs, LogOptions options, LogPosition scan_from, OpenReport* report);
  ~Log();

  // --- writer side: one thread ---
  LogPosition end() const;  // where the next byte goes
  // One pwritev; not durable yet. `bytes` are whole events with positions and checksums already right for end(); readers get them from
  // memory once set_readable() passes them.
  Status append(std::shared_ptr<const std::string> bytes);
  Status sync();  // one fdatasync; an error is final: the server must stop
  Status rotate();  // ROTATE event, new file (FDE, PREVIOUS_GTIDS of `logged`), index and directory durable
  bool wants_rotation() const;
  // Removes everything behind `position` (a transaction boundary), later files included.
  Status cut(LogPosition position, const GtidSet& logged_after_cut);

  // --- readers: any thread ---
  // The next whole events from `from` on, up to `limit` and about `max_bytes`; empty bytes when from == limit. When `from` is the end of a
  // finished file the chunk starts in the next one (chunk.start tells).
  Result<LogChunk> read(LogPosition from, LogPosition limit, size_t max_bytes);
  Result<std::vector<LogFileInfo>> files() const;
  std::string file_name(uint32_t number) const;               // "binlog.000007"
  Result<uint32_t> file_number(std::string_view name) const;  // error 1236 for a file that is not in the index
  // PREVIOUS_GTIDS of a file.
  Result<GtidSet> previous_gtids(uint32_t file);
  // Where a reader that has `have` must start: the beginning of the newest file whose PREVIOUS_GTIDS are within `have`. Error 1236 when purged.
  Result<LogPosition> start_for(const GtidSet& have);
  // Deletes files before `first_kept`.
  Status purge(uint32_t first_kept);

 private:
  class Impl;
  explicit Log(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace commitd::binlog

// One file of the binlog: its first events, and reading it front to back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "binlog/event_writer.h"

namespace commitd::binlog {

// Magic, format description, PREVIOUS_GTIDS.
std::string log_file_header(EventOrigin origin, std::string_view server_version, const GtidSet& previous);
// Makes the file with its header; data and directory entry are durable when it returns.
Status create_log_file(FileSystem& fs, const std::string& directory, const std::string& path,
                       std::string_view header);

struct LogFileHeader {
  GtidSet previous;
  uint32_t started = 0;  // seconds since 1970
  uint64_t length = 0;   // offset of the first event behind it
};
// Error for a file that is not a log, whose format is not ours or MySQL's, or whose header is incomplete.
Result<LogFileHeader> read_log_file_header(File& file, const std::string& path);

// Reads events one behind the other. A view is valid until the next call.
class EventReader {
 public:
  EventReader(File& file, uint64_t start, uint64_t end) : file_(file), next_(start), end_(end) {}

  enum class Outcome { Event, End, Invalid /* cut off, impossible length or wrong checksum */ };
  Result<Outcome> next(EventView& event);
  uint64_t offset() const { return offset_; }  // of the last event, or of what is invalid
  uint64_t next_offset() const { return next_; }

 private:
  // At least `length` bytes from next_ on are in the buffer, if the file has them.
  Result<bool> fill(uint64_t length);

  File& file_;
  uint64_t offset_ = 0, next_, end_;
  std::string buffer_;
  uint64_t buffer_start_ = 0;
};

// Reads `length` bytes at `offset`; an error when the file has fewer.
Result<std::string> read_exactly(File& file, uint64_t offset, uint64_t length);

}  // namespace commitd::binlog

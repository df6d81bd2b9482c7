// Log files that somebody kept, read without changing them: a point-in-time restore replays them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "log/log.h"
#include "log/log_index.h"

namespace commitd::binlog {

struct ArchivedTransaction {
  LogPosition start, end;
  Gtid gtid;  // empty: of a session with sql_log_bin=0
  uint64_t epoch = 0;
  uint64_t committed_at = 0;  // microseconds since 1970, on the server that committed it first
  std::string_view events;    // valid during the visit
};

class LogArchive {
 public:
  // The log files in `directory` from the one on in which `from` lies. An error when they do not connect to
  // it.
  static Result<LogArchive> open(FileSystem& fs, const std::string& directory, const std::string& base_name,
                                 LogPosition from);

  uint32_t last_file() const { return files_.back(); }
  // Every complete transaction in order until `visit` returns false. A torn tail ends the last file; damage
  // elsewhere is an error.
  using Visit = std::function<Result<bool>(const ArchivedTransaction&)>;
  Status visit(const Visit& visit);

 private:
  LogArchive(FileSystem& fs, LogIndex index, std::vector<uint32_t> files, LogPosition from)
      : fs_(fs), index_(std::move(index)), files_(std::move(files)), from_(from) {}
  Result<bool> visit_file(uint32_t number, const Visit& visit);

  FileSystem& fs_;
  LogIndex index_;
  std::vector<uint32_t> files_;
  LogPosition from_;
};

}  // namespace commitd::binlog

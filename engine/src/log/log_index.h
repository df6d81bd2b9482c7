// binlog.index and, once there was a relay log, commitd-relay-bin.index: which files make up the log, in
// order. A file counts only once it stands in one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "log/log_kind.h"

namespace commitd::binlog {

class LogIndex {
 public:
  LogIndex(FileSystem& fs, std::string directory, std::string base_name);

  static bool exists(FileSystem& fs, const std::string& directory, const std::string& base_name);
  // False when there is no binlog.index.
  Result<bool> load();
  // Makes `numbers` the files of the log, each of the kind that it has; durable when it returns. A crash in
  // between is whole only where those that go are of one kind.
  Status store(std::vector<uint32_t> numbers);
  Status add(uint32_t number, LogKind kind);

  const std::vector<uint32_t>& numbers() const { return numbers_; }
  std::vector<uint32_t> numbers(LogKind kind) const;
  bool contains(uint32_t number) const;
  LogKind kind(uint32_t number) const { return relay_.contains(number) ? LogKind::Relay : LogKind::Binary; }
  bool has_relay() const { return !relay_.empty(); }
  std::string name(uint32_t number, LogKind kind) const;  // "binlog.000007"
  std::string name(uint32_t number) const { return name(number, kind(number)); }
  std::string path(uint32_t number, LogKind kind) const;
  std::string path(uint32_t number) const { return path(number, kind(number)); }
  std::string index_path(LogKind kind) const;
  // Of a well-formed name, in the index or not.
  std::optional<uint32_t> number(std::string_view name, LogKind kind = LogKind::Binary) const;
  // Log files in the directory, whether the index has them or not.
  Result<std::vector<uint32_t>> numbers_on_disk(LogKind kind = LogKind::Binary) const;
  // Takes the relay log's files and index away; not the last step of anything.
  Status remove_relay_files();

 private:
  const std::string& base_name(LogKind kind) const;
  Result<std::vector<uint32_t>> load(LogKind kind, bool consecutive) const;
  Status write(LogKind kind, const std::vector<uint32_t>& numbers);

  FileSystem& fs_;
  const std::string directory_, base_name_, relay_name_{kRelayLogName};
  std::vector<uint32_t> numbers_;  // of both kinds
  std::set<uint32_t> relay_;       // those of the relay log
};

}  // namespace commitd::binlog

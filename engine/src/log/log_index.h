// binlog.index: which files make up the log, in order. A file counts only once it stands here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace commitd::binlog {

class LogIndex {
 public:
  LogIndex(FileSystem& fs, std::string directory, std::string base_name);

  static bool exists(FileSystem& fs, const std::string& directory, const std::string& base_name);
  // False when there is no index file.
  Result<bool> load();
  // Makes `numbers` the files of the log; durable when it returns.
  Status store(std::vector<uint32_t> numbers);

  const std::vector<uint32_t>& numbers() const { return numbers_; }
  bool contains(uint32_t number) const;
  std::string name(uint32_t number) const;  // "binlog.000007"
  std::string path(uint32_t number) const;
  std::optional<uint32_t> number(std::string_view name) const;  // of a well-formed name, in the index or not
  // Log files in the directory, whether the index has them or not.
  Result<std::vector<uint32_t>> numbers_on_disk() const;

 private:
  std::string index_path() const;

  FileSystem& fs_;
  const std::string directory_, base_name_;
  std::vector<uint32_t> numbers_;
};

}  // namespace commitd::binlog

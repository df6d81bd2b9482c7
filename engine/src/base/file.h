// File access behind an interface, so that tests can record every write and sync, and lose what was not
// synced.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace commitd {

class File {
 public:
  virtual ~File() = default;
  virtual Result<size_t> read_at(uint64_t offset,
                                 std::span<char> into) = 0;  // fewer bytes only at the end of the file
  // Writes all pieces one behind the other with one system call where the kernel allows it. On failure some
  // bytes may be there.
  virtual Status write_at(uint64_t offset, std::span<const std::string_view> pieces) = 0;
  virtual Status sync_data() = 0;  // fdatasync
  virtual Status truncate(uint64_t size) = 0;
  virtual Status preallocate(uint64_t offset,
                             uint64_t length) = 0;  // FALLOC_FL_KEEP_SIZE; not an error where unsupported
  virtual Result<uint64_t> size() = 0;
};

class FileSystem {
 public:
  enum class Open { Read, ReadWrite, Create /* read-write; error when it exists */ };

  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<File>> open(const std::string& path, Open how) = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  virtual Status sync_directory(const std::string& path) = 0;
  virtual Status make_directory(const std::string& path) = 0;
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  virtual bool exists(const std::string& path) = 0;

  static FileSystem& posix();
};

Result<std::string> read_whole_file(FileSystem& fs, const std::string& path);
// Readers see the old content or the new one, also after a crash: temporary file, fdatasync, rename,
// directory sync.
Status write_file_atomically(FileSystem& fs, const std::string& path, std::string_view content);

}  // namespace commitd

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/error_codes.h"

namespace commitd {
namespace {

Error io_error(const char* what, const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  if (error == ENOSPC || error == EDQUOT) {
    return make_error(er::kDiskFull, "Disk full: cannot {} '{}' ({}). Free some space", what, path, reason);
  }
  return make_error(er::kErrorOnWrite, "Cannot {} '{}' (errno {}: {})", what, path, error, reason);
}

template <class Call>
auto retry_interrupted(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

class PosixFile final : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixFile() override { ::close(fd_); }

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    size_t done = 0;
    while (done < into.size()) {
      const ssize_t n = retry_interrupted(
          [&] { return ::pread(fd_, into.data() + done, into.size() - done, offset + done); });
      if (n < 0) return make_error(er::kErrorOnRead, "Cannot read '{}' (errno {})", path_, errno);
      if (n == 0) break;
      done += n;
    }
    return done;
  }

  Status write_at(uint64_t offset, std::span<const std::string_view> pieces) override {
    std::vector<iovec> rest;
    rest.reserve(pieces.size());
    for (std::string_view piece : pieces) {
      if (!piece.empty()) rest.push_back({const_cast<char*>(piece.data()), piece.size()});
    }
    size_t next = 0;
    while (next < rest.size()) {
      const int count = static_cast<int>(std::min<size_t>(rest.size() - next, IOV_MAX));
      ssize_t n = retry_interrupted([&] { return ::pwritev(fd_, &rest[next], count, offset); });
      if (n < 0) return io_error("write", path_, errno);
      if (n == 0) return io_error("write", path_, ENOSPC);
      offset += n;
      while (n > 0 && static_cast<size_t>(n) >= rest[next].iov_len) n -= rest[next++].iov_len;
      if (n > 0) {
        rest[next].iov_base = static_cast<char*>(rest[next].iov_base) + n;
        rest[next].iov_len -= n;
      }
    }
    return {};
  }

  // Not repeated after a failure: the kernel may have dropped the dirty pages, and a second call would report
  // success.
  Status sync_data() override {
    if (::fdatasync(fd_) != 0) return io_error("sync", path_, errno);
    return {};
  }

  Status truncate(uint64_t size) override {
    if (retry_interrupted([&] { return ::ftruncate(fd_, size); }) != 0)
      return io_error("truncate", path_, errno);
    return {};
  }

  Status preallocate(uint64_t offset, uint64_t length) override {
    const int result =
        retry_interrupted([&] { return ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, offset, length); });
    if (result != 0 && errno != EOPNOTSUPP && errno != ENOSYS) return io_error("preallocate", path_, errno);
    return {};
  }

  Result<uint64_t> size() override {
    struct stat info;
    if (::fstat(fd_, &info) != 0) return io_error("stat", path_, errno);
    return static_cast<uint64_t>(info.st_size);
  }

 private:
  const int fd_;
  const std::string path_;
};

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path, Open how) override {
    int flags = O_CLOEXEC | (how == Open::Read ? O_RDONLY : O_RDWR);
    if (how == Open::Create) flags |= O_CREAT | O_EXCL;
    const int fd = retry_interrupted([&] { return ::open(path.c_str(), flags, 0640); });
    if (fd < 0) return io_error(how == Open::Create ? "create" : "open", path, errno);
    return std::unique_ptr<File>(std::make_unique<PosixFile>(fd, path));
  }

  Status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return io_error("rename", from, errno);
    return {};
  }

  Status remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return io_error("remove", path, errno);
    return {};
  }

  Status sync_directory(const std::string& path) override {
    const int fd =
        retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (fd < 0) return io_error("open", path, errno);
    const int result = ::fsync(fd);
    const int error = errno;
    ::close(fd);
    if (result != 0) return io_error("sync", path, error);
    return {};
  }

  Status make_directory(const std::string& path) override {
    if (::mkdir(path.c_str(), 0750) != 0 && errno != EEXIST) return io_error("create directory", path, errno);
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      names.push_back(it->path().filename().string());
    }
    if (error) return io_error("list", path, error.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }
};

std::string parent_directory(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

FileSystem& FileSystem::posix() {
  static PosixFileSystem instance;
  return instance;
}

Result<std::string> read_whole_file(FileSystem& fs, const std::string& path) {
  auto file = fs.open(path, FileSystem::Open::Read);
  if (!file) return std::move(file).error();
  auto size = (*file)->size();
  if (!size) return std::move(size).error();
  std::string content(*size, '\0');
  auto got = (*file)->read_at(0, content);
  if (!got) return std::move(got).error();
  content.resize(*got);
  return content;
}

Status write_file_atomically(FileSystem& fs, const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  if (fs.exists(temporary)) COMMITD_RETURN_IF_ERROR(fs.remove(temporary));
  {
    auto file = fs.open(temporary, FileSystem::Open::Create);
    if (!file) return std::move(file).error();
    COMMITD_RETURN_IF_ERROR((*file)->write_at(0, std::span(&content, 1)));
    COMMITD_RETURN_IF_ERROR((*file)->sync_data());
  }
  COMMITD_RETURN_IF_ERROR(fs.rename(temporary, path));
  return fs.sync_directory(parent_directory(path));
}

}  // namespace commitd

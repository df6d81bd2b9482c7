#include "storage/rocks/testing/file_system_env.h"

#include <rocksdb/file_system.h>

#include "base/error_codes.h"

namespace commitd::storage::testing {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus io_status(const Status& status) {
  if (status.ok()) return IOStatus::OK();
  const std::string& why = status.error().message;
  return status.error().code == er::kDiskFull ? IOStatus::NoSpace(why) : IOStatus::IOError(why);
}

IOStatus read_into(File& file, uint64_t offset, size_t size, Slice* result, char* scratch) {
  const auto got = file.read_at(offset, {scratch, size});
  if (!got) return IOStatus::IOError(got.error().message);
  *result = Slice(scratch, *got);
  return IOStatus::OK();
}

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  explicit SequentialFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  IOStatus Read(size_t size, const IOOptions&, Slice* result, char* scratch, IODebugContext*) override {
    const IOStatus status = read_into(*file_, offset_, size, result, scratch);
    if (status.ok()) offset_ += result->size();
    return status;
  }
  IOStatus Skip(uint64_t size) override {
    offset_ += size;
    return IOStatus::OK();
  }

 private:
  std::unique_ptr<File> file_;
  uint64_t offset_ = 0;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomAccessFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return read_into(*file_, offset, size, result, scratch);
  }

 private:
  std::unique_ptr<File> file_;
};

class WritableFile final : public rocksdb::FSWritableFile {
 public:
  WritableFile(std::unique_ptr<File> file, uint64_t size) : file_(std::move(file)), size_(size) {}

  using rocksdb::FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    const std::string_view piece(data.data(), data.size());
    const IOStatus status = io_status(file_->write_at(size_, {&piece, 1}));
    if (status.ok()) size_ += data.size();
    return status;
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    if (size == size_) return IOStatus::OK();
    size_ = size;
    return io_status(file_->truncate(size));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return io_status(file_->sync_data()); }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }

 private:
  std::unique_ptr<File> file_;
  uint64_t size_;
};

class Directory final : public rocksdb::FSDirectory {
 public:
  Directory(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return io_status(files_.sync_directory(path_));
  }

 private:
  FileSystem& files_;
  const std::string path_;
};

class Lock final : public rocksdb::FileLock {};

// RocksDB's own log of what it does is no part of the data.
class Silence final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

class Adapter final : public rocksdb::FileSystem {
 public:
  Adapter(commitd::FileSystem& files, std::function<uint64_t()> room_left)
      : files_(files), room_left_(std::move(room_left)) {}

  const char* Name() const override { return "commitd-test"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result, IODebugContext*) override {
    return open_as<SequentialFile>(path, result);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext*) override {
    return open_as<RandomAccessFile>(path, result);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext*) override {
    const bool there = files_.exists(path);
    using Open = commitd::FileSystem::Open;
    auto file = files_.open(path, there ? Open::ReadWrite : Open::Create);
    if (!file) return IOStatus::IOError(file.error().message);
    if (there) {
      if (const Status emptied = (*file)->truncate(0); !emptied.ok()) return io_status(emptied);
    }
    *result = std::make_unique<WritableFile>(std::move(*file), 0);
    return IOStatus::OK();
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext* context) override {
    if (!files_.exists(path)) return NewWritableFile(path, options, result, context);
    auto file = files_.open(path, commitd::FileSystem::Open::ReadWrite);
    if (!file) return IOStatus::IOError(file.error().message);
    const auto size = (*file)->size();
    if (!size) return IOStatus::IOError(size.error().message);
    *result = std::make_unique<WritableFile>(std::move(*file), *size);
    return IOStatus::OK();
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext*) override {
    *result = std::make_unique<Directory>(files_, path);
    return IOStatus::OK();
  }
  IOStatus NewLogger(const std::string&, const IOOptions&, std::shared_ptr<rocksdb::Logger>* result,
                     IODebugContext*) override {
    *result = std::make_shared<Silence>();
    return IOStatus::OK();
  }

  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    return files_.exists(path) ? IOStatus::OK() : IOStatus::NotFound(path);
  }
  IOStatus GetChildren(const std::string& directory, const IOOptions&, std::vector<std::string>* result,
                       IODebugContext*) override {
    auto names = files_.list(directory);
    if (!names) return IOStatus::IOError(names.error().message);
    *result = std::move(*names);
    return IOStatus::OK();
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return io_status(files_.remove(path));
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override {
    return files_.exists(from) ? io_status(files_.rename(from, to)) : rename_directory(from, to);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* size, IODebugContext*) override {
    auto file = files_.open(path, commitd::FileSystem::Open::Read);
    if (!file) return IOStatus::NotFound(path);
    const auto found = (*file)->size();
    if (!found) return IOStatus::IOError(found.error().message);
    *size = *found;
    return IOStatus::OK();
  }
  IOStatus GetFileModificationTime(const std::string&, const IOOptions&, uint64_t* time,
                                   IODebugContext*) override {
    *time = 0;
    return IOStatus::OK();
  }

  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return io_status(files_.make_directory(path));
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    return io_status(files_.make_directory(path));
  }
  IOStatus DeleteDir(const std::string&, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                       IODebugContext*) override {
    *is_directory = !files_.exists(path);
    return IOStatus::OK();
  }

  // Each test's files belong to one process.
  IOStatus LockFile(const std::string&, const IOOptions&, rocksdb::FileLock** lock,
                    IODebugContext*) override {
    *lock = new Lock;
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    delete lock;
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string*, IODebugContext*) override {
    return IOStatus::NotSupported("GetTestDirectory");
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* result,
                           IODebugContext*) override {
    *result = path;
    return IOStatus::OK();
  }
  IOStatus GetFreeSpace(const std::string&, const IOOptions&, uint64_t* free, IODebugContext*) override {
    *free = room_left_ ? room_left_() : uint64_t{1} << 40;
    return IOStatus::OK();
  }

 private:
  // A directory is what files have in front of their names.
  IOStatus rename_directory(const std::string& from, const std::string& to) {
    auto names = files_.list(from);
    if (!names) return IOStatus::IOError(names.error().message);
    for (const std::string& name : *names) {
      const Status renamed = files_.rename(from + "/" + name, to + "/" + name);
      if (!renamed.ok()) return io_status(renamed);
    }
    return IOStatus::OK();
  }

  template <class Opened, class Interface>
  IOStatus open_as(const std::string& path, std::unique_ptr<Interface>* result) {
    if (!files_.exists(path)) return IOStatus::PathNotFound(path);
    auto file = files_.open(path, commitd::FileSystem::Open::Read);
    if (!file) return IOStatus::IOError(file.error().message);
    *result = std::make_unique<Opened>(std::move(*file));
    return IOStatus::OK();
  }

  commitd::FileSystem& files_;
  const std::function<uint64_t()> room_left_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> env_over(FileSystem& files, std::function<uint64_t()> room_left) {
  return rocksdb::NewCompositeEnv(std::make_shared<Adapter>(files, std::move(room_left)));
}

}  // namespace commitd::storage::testing

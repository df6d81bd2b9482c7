#include "observe/instrumented_files.h"

#include <algorithm>
#include <numeric>

#include "observe/wait_events.h"

namespace commitd::observe {

namespace {

class InstrumentedFile final : public File {
 public:
  InstrumentedFile(std::unique_ptr<File> inner, const IoEvent& event)
      : inner_(std::move(inner)), event_(event) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    IoTimer timer(event_, IoKind::Read);
    auto got = inner_->read_at(offset, into);
    if (got.ok()) timer.moved(*got);
    return got;
  }
  Status write_at(uint64_t offset, std::span<const std::string_view> pieces) override {
    IoTimer timer(event_, IoKind::Write);
    for (const std::string_view piece : pieces) timer.moved(piece.size());
    return inner_->write_at(offset, pieces);
  }
  Status sync_data() override {
    const IoTimer timer(event_, IoKind::Other);
    return inner_->sync_data();
  }
  Status truncate(uint64_t size) override {
    const IoTimer timer(event_, IoKind::Other);
    return inner_->truncate(size);
  }
  Status preallocate(uint64_t offset, uint64_t length) override {
    const IoTimer timer(event_, IoKind::Other);
    return inner_->preallocate(offset, length);
  }
  Result<uint64_t> size() override { return inner_->size(); }

 private:
  const std::unique_ptr<File> inner_;
  const IoEvent& event_;
};

class InstrumentedLogFiles final : public FileSystem {
 public:
  explicit InstrumentedLogFiles(FileSystem& inner) : inner_(inner) {}

  Result<std::unique_ptr<File>> open(const std::string& path, Open how) override {
    auto file = inner_.open(path, how);
    if (!file.ok()) return file;
    const bool index = path.ends_with(".index") || path.find(".index.") != std::string::npos;
    return std::unique_ptr<File>(std::make_unique<InstrumentedFile>(std::move(*file), index ? index_ : log_));
  }
  Status rename(const std::string& from, const std::string& to) override { return inner_.rename(from, to); }
  Status remove(const std::string& path) override { return inner_.remove(path); }
  Status sync_directory(const std::string& path) override {
    const IoTimer timer(index_, IoKind::Other);
    return inner_.sync_directory(path);
  }
  Status make_directory(const std::string& path) override { return inner_.make_directory(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return inner_.list(path); }
  bool exists(const std::string& path) override { return inner_.exists(path); }

 private:
  FileSystem& inner_;
  const IoEvent log_{"wait/io/file/sql/binlog"}, index_{"wait/io/file/sql/binlog_index"};
};

}  // namespace

std::unique_ptr<FileSystem> instrumented_log_files(FileSystem& inner) {
  return std::make_unique<InstrumentedLogFiles>(inner);
}

}  // namespace commitd::observe

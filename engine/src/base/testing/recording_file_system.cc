#include "base/testing/recording_file_system.h"

#include <algorithm>

#include "base/error_codes.h"

namespace commitd::testing {
namespace {

constexpr uint64_t kSector = 512;

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

struct RecordingFileSystem::Operation {
  enum class Kind { Write, Truncate, SyncData, Create, Rename, Remove, SyncDirectory } kind;
  int inode = 0;
  uint64_t offset = 0;   // Write; the new size of Truncate
  std::string data;      // Write
  std::string path, to;  // Create, Rename, Remove; path of SyncDirectory
};

struct RecordingFileSystem::Disk {
  std::map<std::string, int> names;
  std::map<int, std::string> content;
  int next_inode = 1;

  void write(int inode, uint64_t offset, std::string_view bytes) {
    std::string& file = content[inode];
    if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size());
    file.replace(offset, bytes.size(), bytes);
  }

  void apply(const Operation& operation) {
    using Kind = Operation::Kind;
    switch (operation.kind) {
      case Kind::Write:
        write(operation.inode, operation.offset, operation.data);
        break;
      case Kind::Truncate:
        content[operation.inode].resize(operation.offset);
        break;
      case Kind::Create:
        names[operation.path] = operation.inode;
        content[operation.inode];
        break;
      case Kind::Rename:
        names[operation.to] = names[operation.path];
        names.erase(operation.path);
        break;
      case Kind::Remove:
        names.erase(operation.path);
        break;
      case Kind::SyncData:
      case Kind::SyncDirectory:
        break;
    }
  }

  void forget_unnamed_files() {
    std::map<int, std::string> named;
    for (const auto& [name, inode] : names) named[inode] = std::move(content[inode]);
    content = std::move(named);
  }

  void apply_cut(const Operation& operation, std::mt19937& random) {
    write(operation.inode, operation.offset,
          std::string_view(operation.data).substr(0, random() % (operation.data.size() + 1)));
  }

  // The sectors of an unsynced write reach the disk in any order.
  void apply_torn(const Operation& operation, std::mt19937& random) {
    std::string& file = content[operation.inode];
    const uint64_t end = operation.offset + operation.data.size();
    for (uint64_t at = operation.offset; at < end;) {
      const uint64_t stop = std::min(end, (at / kSector + 1) * kSector);
      if (random() % 2 == 0) {
        write(operation.inode, at, std::string_view(operation.data).substr(at - operation.offset, stop - at));
      } else if (file.size() < stop && random() % 2 == 0) {
        file.resize(stop);  // the size arrived, the data did not
      }
      at = stop;
    }
  }
};

class RecordingFileSystem::RecordedFile final : public File {
 public:
  RecordedFile(RecordingFileSystem& fs, int inode) : fs_(fs), inode_(inode) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    std::lock_guard lock(fs_.mutex_);
    const std::string& content = fs_.now_->content[inode_];
    if (offset >= content.size()) return size_t{0};
    return content.copy(into.data(), into.size(), offset);
  }
  Status write_at(uint64_t offset, std::span<const std::string_view> pieces) override {
    std::string all;
    for (std::string_view piece : pieces) all += piece;
    return fs_.do_write(inode_, offset, all);
  }
  Status sync_data() override { return fs_.do_sync(inode_); }
  Status truncate(uint64_t size) override {
    std::lock_guard lock(fs_.mutex_);
    fs_.add({Operation::Kind::Truncate, inode_, size, {}, {}, {}});
    return {};
  }
  Status preallocate(uint64_t, uint64_t) override { return {}; }
  Result<uint64_t> size() override {
    std::lock_guard lock(fs_.mutex_);
    return static_cast<uint64_t>(fs_.now_->content[inode_].size());
  }

 private:
  RecordingFileSystem& fs_;
  const int inode_;
};

RecordingFileSystem::RecordingFileSystem()
    : now_(std::make_unique<Disk>()), base_(std::make_unique<Disk>()) {}
RecordingFileSystem::~RecordingFileSystem() = default;

void RecordingFileSystem::add(Operation operation) {
  now_->apply(operation);
  operations_.push_back(std::move(operation));
  if (clock_) times_.push_back(++*clock_);
}

Status RecordingFileSystem::do_write(int inode, uint64_t offset, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  const uint64_t size = now_->content[inode].size();
  const uint64_t grows = std::max(offset + bytes.size(), size) - size;
  const bool full = grows != 0 && written_ + bytes.size() > space_;
  if (full) bytes = bytes.substr(0, bytes.size() / 2);
  written_ += bytes.size();
  add({Operation::Kind::Write, inode, offset, std::string(bytes), {}, {}});
  if (full) return make_error(er::kDiskFull, "Disk full");
  return {};
}

Status RecordingFileSystem::do_sync(int inode) {
  std::lock_guard lock(mutex_);
  ++data_syncs_;
  if (failing_syncs_ > 0) {
    --failing_syncs_;
    return make_error(er::kErrorOnWrite, "Sync failed");
  }
  if (lying_) return {};
  late_syncs_.push_back({Operation::Kind::SyncData, inode, 0, {}, {}, {}});
  while (late_syncs_.size() > (late_ ? 1 : 0)) {
    add(std::move(late_syncs_.front()));
    late_syncs_.erase(late_syncs_.begin());
  }
  return {};
}

Result<std::unique_ptr<File>> RecordingFileSystem::open(const std::string& path, Open how) {
  std::lock_guard lock(mutex_);
  const auto found = now_->names.find(path);
  const bool there = found != now_->names.end();
  if (there == (how == Open::Create)) return make_error(er::kErrorOnRead, "Cannot open '{}'", path);
  int inode = there ? found->second : 0;
  if (!there) {
    inode = now_->next_inode++;
    add({Operation::Kind::Create, inode, 0, {}, path, {}});
  }
  return std::unique_ptr<File>(std::make_unique<RecordedFile>(*this, inode));
}

Status RecordingFileSystem::rename(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  if (!now_->names.contains(from)) return make_error(er::kErrorOnWrite, "No file '{}'", from);
  add({Operation::Kind::Rename, 0, 0, {}, from, to});
  return {};
}

Status RecordingFileSystem::remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (!now_->names.contains(path)) return make_error(er::kErrorOnWrite, "No file '{}'", path);
  add({Operation::Kind::Remove, 0, 0, {}, path, {}});
  return {};
}

Status RecordingFileSystem::sync_directory(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (!lying_about_directories_) add({Operation::Kind::SyncDirectory, 0, 0, {}, path, {}});
  return {};
}

Status RecordingFileSystem::make_directory(const std::string&) {
  return {};
}

Result<std::vector<std::string>> RecordingFileSystem::list(const std::string& path) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, inode] : now_->names) {
    if (directory_of(name) == path) names.push_back(name.substr(path.size() + 1));
  }
  return names;
}

bool RecordingFileSystem::exists(const std::string& path) {
  std::lock_guard lock(mutex_);
  return now_->names.contains(path);
}

void RecordingFileSystem::start_recording() {
  std::lock_guard lock(mutex_);
  *base_ = *now_;
  operations_.clear();
  times_.clear();
}

void RecordingFileSystem::keep_time_by(SharedClock clock) {
  std::lock_guard lock(mutex_);
  clock_ = std::move(clock);
}

size_t RecordingFileSystem::steps_at(size_t time) const {
  std::lock_guard lock(mutex_);
  return std::upper_bound(times_.begin(), times_.end(), time) - times_.begin();
}

size_t RecordingFileSystem::steps() const {
  std::lock_guard lock(mutex_);
  return operations_.size();
}

std::unique_ptr<RecordingFileSystem> RecordingFileSystem::after_crash(size_t step, Loss loss,
                                                                      unsigned seed) const {
  std::lock_guard lock(mutex_);
  std::mt19937 random(seed);
  // For each operation: has a sync behind it, but before the crash, made it durable?
  std::map<int, size_t> data_synced;
  std::map<std::string, size_t> names_kept_to;  // by directory
  for (size_t i = 0; i < step; ++i) {
    if (operations_[i].kind == Operation::Kind::SyncData) data_synced[operations_[i].inode] = i;
    if (operations_[i].kind == Operation::Kind::SyncDirectory) names_kept_to[operations_[i].path] = i;
    if (!operations_[i].path.empty()) names_kept_to.try_emplace(directory_of(operations_[i].path), 0);
  }
  // Changes of a directory go through a journal: what survives of them is a prefix.
  for (auto& [directory, kept_to] : names_kept_to) {
    if (loss == Loss::KeepAll) kept_to = step;
    if (loss == Loss::Random) kept_to += random() % (step - kept_to + 1);
  }

  const std::set<int> appended = appended_inodes(step);
  std::set<int> cut_off;  // of those: the first loss was before
  auto result = std::make_unique<RecordingFileSystem>();
  result->append_only_directory_ = append_only_directory_;
  *result->now_ = *base_;
  for (size_t i = 0; i < step; ++i) {
    const Operation& operation = operations_[i];
    const bool is_data =
        operation.kind == Operation::Kind::Write || operation.kind == Operation::Kind::Truncate;
    if (!is_data) {
      const bool is_sync =
          operation.kind == Operation::Kind::SyncData || operation.kind == Operation::Kind::SyncDirectory;
      if (!is_sync && i < names_kept_to[directory_of(operation.path)]) result->now_->apply(operation);
      continue;
    }
    const auto synced = data_synced.find(operation.inode);
    const bool durable = synced != data_synced.end() && i < synced->second;
    if (cut_off.contains(operation.inode)) continue;
    const unsigned choice = loss == Loss::KeepAll || durable ? 0 : loss == Loss::DropAll ? 1 : random() % 3;
    if (choice == 0) result->now_->apply(operation);
    const bool in_order = choice != 0 && appended.contains(operation.inode);
    if (in_order) cut_off.insert(operation.inode);
    if (choice == 2 && operation.kind == Operation::Kind::Write) {
      if (in_order) {
        result->now_->apply_cut(operation, random);
      } else {
        result->now_->apply_torn(operation, random);
      }
    }
  }
  result->now_->forget_unnamed_files();
  result->now_->next_inode = now_->next_inode;
  *result->base_ = *result->now_;
  return result;
}

std::set<int> RecordingFileSystem::appended_inodes(size_t step) const {
  std::set<int> inodes;
  if (append_only_directory_.empty()) return inodes;
  for (const auto& [name, inode] : base_->names) {
    if (directory_of(name) == append_only_directory_) inodes.insert(inode);
  }
  for (size_t i = 0; i < step; ++i) {
    const Operation& operation = operations_[i];
    if (operation.kind == Operation::Kind::Create && directory_of(operation.path) == append_only_directory_)
      inodes.insert(operation.inode);
  }
  return inodes;
}

void RecordingFileSystem::appends_survive_in_order(const std::string& directory) {
  std::lock_guard lock(mutex_);
  append_only_directory_ = directory;
}

void RecordingFileSystem::lie_about_sync(bool on) {
  std::lock_guard lock(mutex_);
  lying_ = on;
}

void RecordingFileSystem::lie_about_directory_syncs(bool on) {
  std::lock_guard lock(mutex_);
  lying_about_directories_ = on;
}

void RecordingFileSystem::sync_late(bool on) {
  std::lock_guard lock(mutex_);
  late_ = on;
}

void RecordingFileSystem::fail_next_syncs(int count) {
  std::lock_guard lock(mutex_);
  failing_syncs_ = count;
}

void RecordingFileSystem::fail_writes_beyond(uint64_t total) {
  std::lock_guard lock(mutex_);
  space_ = total;
}

void RecordingFileSystem::leave_room_for(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  space_ = written_ + bytes;
}

uint64_t RecordingFileSystem::room_left() const {
  std::lock_guard lock(mutex_);
  return space_ - std::min(space_, written_);
}

size_t RecordingFileSystem::data_syncs() const {
  std::lock_guard lock(mutex_);
  return data_syncs_;
}

std::string RecordingFileSystem::content(const std::string& path) const {
  std::lock_guard lock(mutex_);
  const auto found = now_->names.find(path);
  return found == now_->names.end() ? "" : now_->content.at(found->second);
}

std::map<std::string, std::string> RecordingFileSystem::every_file() const {
  std::lock_guard lock(mutex_);
  std::map<std::string, std::string> files;
  Disk disk = *base_;
  const auto gather = [&] {
    for (const auto& [name, inode] : disk.names) files[name] = now_->content.at(inode);
  };
  gather();
  for (const Operation& operation : operations_) {
    if (operation.kind == Operation::Kind::Remove) gather();
    if (operation.kind != Operation::Kind::Write) disk.apply(operation);
  }
  gather();
  return files;
}

void RecordingFileSystem::put_file(const std::string& path, std::string_view content) {
  std::lock_guard lock(mutex_);
  const int inode = now_->next_inode++;
  now_->names[path] = inode;
  now_->content[inode] = content;
  *base_ = *now_;
}

void RecordingFileSystem::overwrite(const std::string& path, uint64_t offset, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  now_->write(now_->names.at(path), offset, bytes);
  *base_ = *now_;
}

}  // namespace commitd::testing

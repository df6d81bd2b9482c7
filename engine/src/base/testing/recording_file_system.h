// A file system in memory that writes down every operation, and can say what a disk may hold after a crash
// behind any of them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"

namespace commitd::testing {

// What becomes of writes and directory changes that were not synced when the crash came.
enum class Loss { KeepAll, DropAll, Random /* each kept, dropped or torn into sectors */ };

class RecordingFileSystem final : public FileSystem {
 public:
  RecordingFileSystem();
  ~RecordingFileSystem() override;

  // --- FileSystem ---
  Result<std::unique_ptr<File>> open(const std::string& path, Open how) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  bool exists(const std::string& path) override;

  // --- the record ---
  // Number of operations so far. Crash points are 0 … steps().
  size_t steps() const;
  // The file system a machine would come up with after a crash behind the first `step` operations. It records
  // anew.
  std::unique_ptr<RecordingFileSystem> after_crash(size_t step, Loss loss, unsigned seed) const;

  // --- misbehaviour ---
  void lie_about_sync(bool on);     // data syncs report success and do nothing
  void fail_next_syncs(int count);  // sync_data() fails
  void fail_writes_beyond(
      uint64_t total);  // no space left once so many bytes were written; half of the failing write arrives
  size_t data_syncs() const;
  std::string content(const std::string& path) const;
  void overwrite(const std::string& path, uint64_t offset, std::string_view bytes);

 private:
  class RecordedFile;
  struct Operation;
  struct Disk;
  friend class RecordedFile;

  Status do_write(int inode, uint64_t offset, std::string_view bytes);
  Status do_sync(int inode);
  void add(Operation operation);

  mutable std::mutex mutex_;
  std::vector<Operation> operations_;
  std::unique_ptr<Disk> now_;
  std::unique_ptr<Disk> base_;  // what was there before the first operation
  bool lying_ = false;
  int failing_syncs_ = 0;
  size_t data_syncs_ = 0;
  uint64_t written_ = 0, space_ = UINT64_MAX;
};

}  // namespace commitd::testing

// A file system in memory that writes down every operation, and can say what a disk may hold after a crash
// behind any of them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"

namespace commitd::testing {

// What becomes of writes and directory changes that were not synced when the crash came.
enum class Loss { KeepAll, DropAll, Random /* each kept, dropped or torn */ };

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
  // What is there now is durable and no part of the record.
  void start_recording();
  // Number of operations so far. Crash points are 0 … steps().
  size_t steps() const;
  // Several disks: an operation on any of them moves their clock on. How many operations of this disk there
  // were when the clock showed `time`.
  using SharedClock = std::shared_ptr<std::atomic<size_t>>;
  void keep_time_by(SharedClock clock);
  size_t steps_at(size_t time) const;
  // The file system a machine would come up with after a crash behind the first `step` operations. It records
  // anew. A name lasts only when its own directory was synced, contents only when the file was.
  std::unique_ptr<RecordingFileSystem> after_crash(size_t step, Loss loss, unsigned seed) const;

  // Of a torn write any sectors survive, in front of others that do not. Not in this directory: its files are
  // only appended to, and keep a prefix of what was appended, cut anywhere. ext4 and XFS promise that much
  // (a file's size grows behind its data), and RocksDB relies on it for its MANIFEST.
  void appends_survive_in_order(const std::string& directory);

  // --- misbehaviour ---
  void lie_about_sync(bool on);             // data syncs report success and do nothing
  void lie_about_directory_syncs(bool on);  // the same for directories
  void sync_late(bool on);                  // a data sync takes effect with the next one
  void fail_next_syncs(int count);          // sync_data() fails
  void fail_writes_beyond(uint64_t total);  // no space left once so many bytes were written; half of the
                                            // failing write arrives. What is there can be written over
  void leave_room_for(uint64_t bytes);      // the same, from now on
  uint64_t room_left() const;
  size_t data_syncs() const;
  std::string content(const std::string& path) const;
  // Every file that ever had a name, removed ones too, with its last content.
  std::map<std::string, std::string> every_file() const;
  void put_file(const std::string& path, std::string_view content);  // no part of the record
  void overwrite(const std::string& path, uint64_t offset, std::string_view bytes);

 private:
  class RecordedFile;
  struct Operation;
  struct Disk;
  friend class RecordedFile;

  Status do_write(int inode, uint64_t offset, std::string_view bytes);
  Status do_sync(int inode);
  void add(Operation operation);

  std::set<int> appended_inodes(size_t step) const;

  mutable std::mutex mutex_;
  std::string append_only_directory_;
  std::vector<Operation> operations_;
  std::unique_ptr<Disk> now_;
  std::unique_ptr<Disk> base_;  // what was there before the first operation
  SharedClock clock_;
  std::vector<size_t> times_;  // of the operations, by that clock
  std::vector<Operation> late_syncs_;
  bool lying_ = false, lying_about_directories_ = false, late_ = false;
  int failing_syncs_ = 0;
  size_t data_syncs_ = 0;
  uint64_t written_ = 0, space_ = UINT64_MAX;
};

}  // namespace commitd::testing

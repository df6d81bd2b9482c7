#include "storage/rocks/rocks_cursor.h"

#include <rocksdb/perf_context.h>

#include "observe/metrics.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {

namespace {

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

// Bytes that an iterator shows, until it moves.
class Shown {
 public:
#ifdef __SANITIZE_THREAD__
  // RocksDB is not instrumented, so that reading what another thread has put in looks like a race wherever it
  // is read. It is read here once, in a call of RocksDB's own, which test/tsan.supp knows.
  std::string_view operator()(const rocksdb::Slice& bytes) {
    copy_ = bytes.ToString();
    return copy_;
  }

 private:
  std::string copy_;
#else
  std::string_view operator()(const rocksdb::Slice& bytes) const {
    return {bytes.data(), bytes.size()};
  }
#endif
};

// Counts what the thread steps over meanwhile; other scans on it may have switched its counting off.
class SkippedKeys {
 public:
  explicit SkippedKeys(ScanWatch watch) : on_(watch == ScanWatch::On) {
    if (!on_) return;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    before_ = now();
  }
  ~SkippedKeys() {
    if (!on_) return;
    static auto& skipped =
        observe::counter("commitd_scan_garbage_skipped_total",
                         "Old versions and tombstones that scans stepped over, while the history is long.");
    skipped.add(now() - before_);
    do_not_count();
  }
  SkippedKeys(const SkippedKeys&) = delete;

 private:
  static uint64_t now() {
    const rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
    return counts.internal_key_skipped_count + counts.internal_delete_skipped_count;
  }
  const bool on_;
  uint64_t before_ = 0;
};

class RocksIterator final : public Iterator {
 public:
  RocksIterator(std::shared_ptr<rocksdb::DB> db, SnapshotPtr snapshot, std::string lower, std::string upper,
                ScanWatch watch)
      : watch_(watch),
        db_(std::move(db)),
        snapshot_(std::move(snapshot)),
        lower_(std::move(lower)),
        upper_(std::move(upper)),
        lower_slice_(lower_),
        upper_slice_(upper_) {
    do_not_count();
    rocksdb::ReadOptions options;
    options.snapshot = handle_of(snapshot_.get());
    options.iterate_lower_bound = &lower_slice_;
    if (!upper_.empty()) options.iterate_upper_bound = &upper_slice_;
    iterator_.reset(db_->NewIterator(options));
  }

  void seek(std::string_view key) override {
    const SkippedKeys counted(watch_);
    iterator_->Seek(slice(key));
  }
  void seek_for_prev(std::string_view key) override {
    const SkippedKeys counted(watch_);
    iterator_->SeekForPrev(slice(key));
  }
  void next() override {
    const SkippedKeys counted(watch_);
    iterator_->Next();
  }
  void prev() override {
    const SkippedKeys counted(watch_);
    iterator_->Prev();
  }
  bool valid() const override { return iterator_->Valid(); }
  std::string_view key() const override { return key_(iterator_->key()); }
  std::string_view value() const override { return value_(iterator_->value()); }
  Status status() const override {
    const rocksdb::Status status = iterator_->status();
    return status.ok() ? Status{} : Status{read_error(status)};
  }

 private:
  const ScanWatch watch_;
  // The iterator refers to everything declared above it and must go first.
  std::shared_ptr<rocksdb::DB> db_;
  SnapshotPtr snapshot_;
  std::string lower_, upper_;
  rocksdb::Slice lower_slice_, upper_slice_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  mutable Shown key_, value_;
};

}  // namespace

std::unique_ptr<Iterator> make_rocks_iterator(std::shared_ptr<rocksdb::DB> db, SnapshotPtr snapshot,
                                              std::string lower, std::string upper, ScanWatch watch) {
  return std::make_unique<RocksIterator>(std::move(db), std::move(snapshot), std::move(lower),
                                         std::move(upper), watch);
}

}  // namespace commitd::storage

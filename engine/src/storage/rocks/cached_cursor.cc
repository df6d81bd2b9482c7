#include "storage/rocks/cached_cursor.h"

#include <algorithm>

#include "base/bytes.h"
#include "storage/rocks/rocks_cursor.h"

namespace commitd::storage {

namespace {

// A range of rows is copied when one of them changes, and looked up in by halves.
constexpr uint64_t kRangeBytes = 8 << 10;
constexpr size_t kRangeRows = 64;
constexpr size_t kLargestRow = 4 << 10;
// A scan that goes on beyond so many ranges does not push all others out.
constexpr int kMostRangesOfScan = 64;

// What a scan reads of a gap in the cache, cut into ranges.
class Filler {
 public:
  Filler(RowCache& cache, RowCache::Sequence snapshot) : cache_(cache), snapshot_(snapshot) {}

  void begin(std::string_view lower) {
    if (ranges_left_ == 0) return;
    rows_ = std::make_shared<CachedRows>(lower);
    bytes_ = 0;
  }
  void add(std::string_view key, std::string_view value) {
    if (rows_ == nullptr) return;
    const bool too_large = key.size() + value.size() > kLargestRow;
    if (too_large || bytes_ >= kRangeBytes || rows_->size() == kRangeRows) {
      end(key);
      begin(too_large ? std::string(key) + '\0' : std::string(key));
      if (too_large || rows_ == nullptr) return;
    }
    rows_->add(key, value);
    bytes_ += key.size() + value.size();
  }
  // There is nothing more below `upper`.
  void end(std::string_view upper) {
    if (rows_ == nullptr) return;
    rows_->end_at(upper);
    if (rows_->lower() < upper) {
      cache_.put(std::move(rows_), snapshot_);
      --ranges_left_;
    }
    rows_ = nullptr;
  }
  void abandon() { rows_ = nullptr; }

 private:
  RowCache& cache_;
  const RowCache::Sequence snapshot_;
  std::shared_ptr<CachedRows> rows_;  // null: nothing is taken in
  uint64_t bytes_ = 0;
  int ranges_left_ = kMostRangesOfScan;
};

class CachedIterator final : public Iterator {
 public:
  CachedIterator(std::shared_ptr<rocksdb::DB> db, std::shared_ptr<RowCache> cache, SnapshotPtr snapshot,
                 std::string lower, std::string upper, ScanWatch watch)
      : watch_(watch),
        db_(std::move(db)),
        cache_(std::move(cache)),
        snapshot_(std::move(snapshot)),
        sequence_(static_cast<const RocksSnapshot&>(*snapshot_).sequence()),
        lower_(std::move(lower)),
        upper_(std::move(upper)),
        filler_(*cache_, sequence_) {}

  void seek(std::string_view key) override {
    filler_.abandon();
    rocks_is_at_next_ = false;
    go_to(std::string(std::max(key, std::string_view(lower_))));
  }
  void next() override {
    if (in_ == In::Cache) {
      if (++at_ == end_) go_to(std::string(rows_->upper()));
      return;
    }
    rocks_->next();
    if (in_ == In::Gap) take_from_gap();
  }
  // Backwards all is RocksDB's.
  void seek_for_prev(std::string_view key) override {
    leave_cache();
    rocks().seek_for_prev(key);
  }
  void prev() override {
    if (in_ == In::Cache) {
      const std::string key(rows_->key(at_));
      leave_cache();
      rocks().seek(key);
    }
    leave_cache();
    rocks().prev();
  }
  bool valid() const override { return in_ == In::Cache || (in_ != In::Nothing && rocks_->valid()); }
  std::string_view key() const override { return in_ == In::Cache ? rows_->key(at_) : rocks_->key(); }
  std::string_view value() const override { return in_ == In::Cache ? rows_->value(at_) : rocks_->value(); }
  Status status() const override { return rocks_ == nullptr ? Status{} : rocks_->status(); }

 private:
  // Gap: between what the cache has; Rocks: from now on without the cache.
  enum class In : uint8_t { Nothing, Cache, Gap, Rocks };

  Iterator& rocks() {
    if (rocks_ == nullptr) rocks_ = make_rocks_iterator(db_, snapshot_, lower_, upper_, watch_);
    return *rocks_;
  }
  void leave_cache() {
    filler_.abandon();
    in_ = In::Rocks;
  }

  // To the first key that is not below `key`.
  void go_to(std::string key) {
    for (in_ = In::Nothing; in_ == In::Nothing && key < upper_;) {
      RowCache::Place place = cache_->find(key, sequence_);
      if (place.rows != nullptr)
        key = enter_rows(std::move(place.rows), key);
      else
        key = enter_gap(place, key);
    }
  }

  // Both say where to go on when there is nothing.
  std::string enter_rows(std::shared_ptr<const CachedRows> rows, std::string_view key) {
    rows_ = std::move(rows);
    rocks_is_at_next_ = false;
    at_ = rows_->lower_bound(key);
    end_ = rows_->upper() <= upper_ ? rows_->size() : rows_->lower_bound(upper_);
    if (at_ < end_) in_ = In::Cache;
    return std::string(rows_->upper());
  }
  std::string enter_gap(const RowCache::Place& place, std::string_view key) {
    gap_end_ = place.gap_end.empty() ? upper_ : std::min(place.gap_end, upper_);
    if (!rocks_is_at_next_) rocks().seek(key);
    if (place.may_fill) filler_.begin(key);
    in_ = In::Gap;
    if (!gap_goes_on()) in_ = In::Nothing;
    return gap_end_;
  }

  bool gap_goes_on() {
    if (rocks_->valid() && rocks_->key() < gap_end_) {
      filler_.add(rocks_->key(), rocks_->value());
      return true;
    }
    if (rocks_->valid() || rocks_->status().ok())
      filler_.end(gap_end_);
    else
      gap_end_ = upper_;  // there is nothing but the error
    filler_.abandon();
    rocks_is_at_next_ = true;
    return false;
  }
  void take_from_gap() {
    if (!gap_goes_on()) go_to(gap_end_);
  }

  const ScanWatch watch_;
  // RocksDB's iterator refers to everything declared above it and must go first.
  const std::shared_ptr<rocksdb::DB> db_;
  const std::shared_ptr<RowCache> cache_;
  const SnapshotPtr snapshot_;
  const RowCache::Sequence sequence_;
  const std::string lower_, upper_;
  Filler filler_;
  In in_ = In::Nothing;
  std::shared_ptr<const CachedRows> rows_;
  size_t at_ = 0, end_ = 0;
  std::string gap_end_;
  bool rocks_is_at_next_ = false;    // it stands on the first key that is not below where to go on
  std::unique_ptr<Iterator> rocks_;  // made when first needed
};

}  // namespace

bool is_table_key(std::string_view key) {
  return key.size() >= 4 && load_be32(key.data()) >= kFirstUserIndexId;
}

std::string first_table_key() {
  std::string key(4, '\0');
  store_be32(key.data(), kFirstUserIndexId);
  return key;
}

std::unique_ptr<Iterator> make_cached_iterator(std::shared_ptr<rocksdb::DB> db,
                                               std::shared_ptr<RowCache> cache, SnapshotPtr snapshot,
                                               std::string lower, std::string upper, ScanWatch watch) {
  return std::make_unique<CachedIterator>(std::move(db), std::move(cache), std::move(snapshot),
                                          std::move(lower), std::move(upper), watch);
}

}  // namespace commitd::storage

#include "storage/rocks/row_cache.h"

#include <algorithm>

#include "observe/metrics.h"

namespace commitd::storage {

namespace {

constexpr size_t kMostLoggedKeys = 2048;
constexpr size_t kMostVersions = 256;
constexpr uint64_t kLargestRange = 64 << 10;
constexpr int kMercy = 16;  // ranges in use that one look for room passes by

observe::Counter& lookups(const char* result) {
  return observe::counter("commitd_row_cache_lookups_total",
                          "Times the row cache was asked for the range of a key, by whether it had it.",
                          {{"result", result}});
}

observe::Gauge& memory_in_use() {
  static auto& bytes =
      observe::gauge("commitd_row_cache_bytes", "Memory that the row cache takes for ranges of rows.");
  return bytes;
}

bool is_in(std::string_view key, const CachedRows& rows) {
  return key >= rows.lower() && key < rows.upper();
}

}  // namespace

RowCache::Ranges::iterator RowCache::range_with(std::string_view key) {
  auto at = ranges_.upper_bound(key);
  if (at == ranges_.begin()) return ranges_.end();
  --at;
  return key < at->second.upper ? at : ranges_.end();
}

void RowCache::count(const CachedRows& rows) {
  bytes_ += rows.bytes();
  memory_in_use().add(static_cast<double>(rows.bytes()));
}

void RowCache::discount(const CachedRows& rows) {
  bytes_ -= rows.bytes();
  memory_in_use().add(-static_cast<double>(rows.bytes()));
}

RowCache::Place RowCache::find(std::string_view key, Sequence snapshot) {
  static observe::Counter& hits = lookups("hit");
  static observe::Counter& misses = lookups("miss");
  Place place = look_up(key, snapshot);
  (place.rows ? hits : misses).add();
  return place;
}

RowCache::Place RowCache::look_up(std::string_view key, Sequence snapshot) {
  std::lock_guard lock(mutex_);
  Place place;
  auto behind = ranges_.upper_bound(key);
  if (behind != ranges_.begin()) {
    auto& [lower, range] = *std::prev(behind);
    if (key < range.upper) {
      range.used = true;
      const auto newer =
          std::upper_bound(range.versions.begin(), range.versions.end(), snapshot,
                           [](Sequence s, const Version& version) { return s < version.from; });
      if (newer != range.versions.begin() && snapshot <= std::prev(newer)->to)
        place.rows = std::prev(newer)->rows;
      else
        place.gap_end = range.upper;
      return place;
    }
  }
  if (behind != ranges_.end()) place.gap_end = behind->first;
  place.may_fill = true;
  return place;
}

bool RowCache::changed_since(Sequence snapshot, const CachedRows& rows) const {
  if (log_begins_ > snapshot) return true;
  for (auto batch = log_.rbegin(); batch != log_.rend() && batch->up_to > snapshot; ++batch) {
    const bool any = std::any_of(batch->keys.begin(), batch->keys.end(),
                                 [&](const std::string& key) { return is_in(key, rows); });
    if (any) return true;
  }
  return false;
}

void RowCache::put(std::shared_ptr<const CachedRows> rows, Sequence snapshot) {
  std::lock_guard lock(mutex_);
  if (changed_since(snapshot, *rows)) return;
  const auto behind = ranges_.lower_bound(rows->upper());
  const bool overlaps = behind != ranges_.begin() && std::prev(behind)->second.upper > rows->lower();
  if (overlaps) return;
  Range& range = ranges_[std::string(rows->lower())];
  range.upper = rows->upper();
  count(*rows);
  range.versions.push_back({snapshot, kOpen, std::move(rows)});
  make_room();
}

// Its range's newest version is for snapshots that do not see the batch.
void RowCache::close(const Change& change, Sequence latest) {
  const auto range = range_with(change.key);
  if (range == ranges_.end()) return;
  Version& newest = range->second.versions.back();
  newest.to = std::min(newest.to, latest);
  Touched& touched = touched_[range->first];
  touched.rows = newest.rows;
  touched.changes.insert_or_assign(change.key, change.value);
}

void RowCache::erase_between(std::string_view begin, std::string_view end) {
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second.upper > begin) --at;
  while (at != ranges_.end() && at->first < end) at = erase(at);
}

// A batch that is too large for the log is as one that changes everything.
void RowCache::log(std::span<const Change> changes) {
  const bool too_much = changes.size() > kMostLoggedKeys ||
                        std::any_of(changes.begin(), changes.end(),
                                    [](const Change& change) { return !change.erased_up_to.empty(); });
  if (too_much) {
    log_.clear();
    logged_keys_ = 0;
    log_begins_ = kOpen;
    return;
  }
  Logged& batch = log_.emplace_back();
  batch.up_to = kOpen;
  batch.keys.reserve(changes.size());
  for (const Change& change : changes) batch.keys.emplace_back(change.key);
  logged_keys_ += changes.size();
  for (; logged_keys_ > kMostLoggedKeys; log_.pop_front()) {
    log_begins_ = log_.front().up_to;
    logged_keys_ -= log_.front().keys.size();
  }
}

void RowCache::before_write(std::span<const Change> changes, Sequence latest) {
  std::lock_guard lock(mutex_);
  if (changes.empty()) return;
  log(changes);
  for (const Change& change : changes) {
    if (change.erased_up_to.empty())
      close(change, latest);
    else
      erase_between(change.key, change.erased_up_to);
  }
}

void RowCache::after_write(Sequence latest, bool written) {
  std::vector<std::shared_ptr<const CachedRows>> newest;  // made while others may read
  newest.reserve(touched_.size());
  for (const auto& [lower, touched] : touched_) {
    auto rows = written ? touched.rows->changed(touched.changes) : nullptr;
    if (rows != nullptr && rows->bytes() > kLargestRange) rows = nullptr;
    newest.push_back(std::move(rows));
  }
  std::lock_guard lock(mutex_);
  if (log_begins_ == kOpen) log_begins_ = latest;
  if (!log_.empty() && log_.back().up_to == kOpen) log_.back().up_to = latest;
  size_t i = 0;
  for (const auto& [lower, touched] : touched_) publish(lower, touched, std::move(newest[i++]), latest);
  touched_.clear();
  make_room();
}

void RowCache::publish(std::string_view lower, const Touched& touched, std::shared_ptr<const CachedRows> rows,
                       Sequence latest) {
  const auto range = ranges_.find(lower);
  if (range == ranges_.end() || range->second.versions.back().rows != touched.rows) return;
  if (rows == nullptr) {
    erase(range);
    return;
  }
  count(*rows);
  range->second.versions.push_back({latest, kOpen, std::move(rows)});
  drop_old_versions(range->second);
}

void RowCache::drop_old_versions(Range& range) {
  const Sequence oldest = snapshots_.empty() ? kOpen : snapshots_.begin()->first;
  auto& versions = range.versions;
  size_t old = 0;
  while (old + 1 < versions.size() && (versions[old].to < oldest || versions.size() - old > kMostVersions))
    discount(*versions[old++].rows);
  versions.erase(versions.begin(), versions.begin() + static_cast<std::ptrdiff_t>(old));
}

RowCache::Ranges::iterator RowCache::erase(Ranges::iterator range) {
  for (const Version& version : range->second.versions) discount(*version.rows);
  return ranges_.erase(range);
}

void RowCache::make_room() {
  int mercy = kMercy;
  auto at = bytes() > capacity_ ? ranges_.lower_bound(hand_) : ranges_.end();
  while (bytes() > capacity_ && !ranges_.empty()) {
    if (at == ranges_.end()) at = ranges_.begin();
    if (at->second.used && mercy-- > 0) {
      at->second.used = false;
      ++at;
    } else {
      at = erase(at);
    }
    hand_ = at == ranges_.end() ? std::string() : at->first;
  }
}

void RowCache::snapshot_taken(Sequence snapshot) {
  std::lock_guard lock(mutex_);
  ++snapshots_[snapshot];
}

void RowCache::snapshot_released(Sequence snapshot) {
  std::lock_guard lock(mutex_);
  const auto at = snapshots_.find(snapshot);
  if (at != snapshots_.end() && --at->second == 0) snapshots_.erase(at);
}

}  // namespace commitd::storage

#include "storage/rocks/purger.h"

#include <algorithm>

#include <rocksdb/metadata.h>

#include "base/packed_int.h"
#include "storage/rocks/cached_cursor.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

using rocksdb::ColumnFamilyMetaData;
using rocksdb::LevelMetaData;
using rocksdb::SstFileMetaData;

constexpr uint64_t kSmallestFile = 64 << 10;

uint64_t pages_of(uint64_t bytes) {
  return (bytes + Purging::kPageBytes - 1) / Purging::kPageBytes;
}

uint32_t index_of(const std::string& key) {
  return key.size() < 4 ? 0 : load_be32(key.data());
}

uint64_t bytes_between(const LevelMetaData& level, const std::string& smallest, const std::string& largest) {
  uint64_t bytes = 0;
  for (const SstFileMetaData& file : level.files)
    if (file.smallestkey <= largest && file.largestkey >= smallest) bytes += file.size;
  return bytes;
}

// A merge of a file of this size takes about `most_bytes` with what is below it.
uint64_t file_limit(uint64_t most_bytes, uint64_t above, uint64_t below) {
  const double share = static_cast<double>(above) / static_cast<double>(std::max<uint64_t>(1, above + below));
  return std::max(kSmallestFile, static_cast<uint64_t>(static_cast<double>(most_bytes) * share));
}

size_t first_level_with_files(const ColumnFamilyMetaData& found) {
  size_t level = 1;
  while (level + 1 < found.levels.size() && found.levels[level].files.empty()) ++level;
  return level;
}

}  // namespace

Result<Purging::Slice> Purger::purge(uint64_t pages) {
  if (stopped_) return Purging::Slice{};
  if (pages == 0) return everything();
  if (!in_round_) return begin_round();
  const Merge merge = next(pages);
  if (merge.files.empty()) {
    in_round_ = merge.later;
    return Purging::Slice{.last = !merge.later};
  }
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;  // what the level has
  options.output_file_size_limit = merge.file_limit;
  rocksdb::CompactionJobInfo done;
  const rocksdb::Status merged =
      db_->CompactFiles(options, merge.files, merge.output_level, -1, nullptr, &done);
  // Aborted: RocksDB merges some of them by itself. Invalid: it has done so meanwhile.
  if (merged.IsAborted() || merged.IsInvalidArgument()) return Purging::Slice{.last = false};
  if (!merged.ok()) {
    in_round_ = false;
    return write_error(merged);
  }
  history_->merged(done);
  return Purging::Slice{.pages = pages_of(merge.bytes), .last = false};
}

// What one round of purging once was.
Result<Purging::Slice> Purger::everything() {
  in_round_ = false;
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = true;
  options.allow_write_stall = true;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  options.canceled = &stopped_;
  uint64_t bytes = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
  ColumnFamilyMetaData found;
  db_->GetColumnFamilyMetaData(&found);
  bytes += found.size;
  const rocksdb::Status merged = db_->CompactRange(options, nullptr, nullptr);
  if (!merged.ok() && !merged.IsIncomplete()) return write_error(merged);
  return Purging::Slice{.pages = pages_of(bytes)};
}

Result<Purging::Slice> Purger::begin_round() {
  indexes_.clear();
  for (const Purging::Garbage& of_index : history_->garbage()) indexes_.insert(of_index.index_id);
  up_to_ = db_->GetLatestSequenceNumber();
  const rocksdb::Status flushed = db_->Flush(rocksdb::FlushOptions());
  if (!flushed.ok()) return write_error(flushed);
  in_round_ = true;
  return Purging::Slice{.last = false};
}

bool Purger::belongs_to_round(const SstFileMetaData& file) const {
  if (file.smallest_seqno > up_to_) return false;
  const auto index = indexes_.lower_bound(index_of(file.smallestkey));
  return index != indexes_.end() && *index <= index_of(file.largestkey);
}

bool Purger::is_being_merged(const ColumnFamilyMetaData& found) const {
  for (size_t level = 0; level + 1 < found.levels.size(); ++level)
    for (const SstFileMetaData& file : found.levels[level].files)
      if (file.being_compacted && belongs_to_round(file)) return true;
  return false;
}

uint64_t Purger::usual_file_bytes() const {
  return db_->GetOptions().target_file_size_base;
}

// From the top down, so that each version is merged into each level at most once.
Purger::Merge Purger::next(uint64_t pages) const {
  ColumnFamilyMetaData found;
  db_->GetColumnFamilyMetaData(&found);
  const uint64_t most_bytes = pages * Purging::kPageBytes;
  if (Merge merge = newest_files(found, most_bytes); !merge.files.empty()) return merge;
  for (size_t level = 1; level + 1 < found.levels.size(); ++level)
    if (Merge merge = first_files(found, level, most_bytes); !merge.files.empty()) return merge;
  Merge nothing;
  nothing.later = is_being_merged(found);
  return nothing;
}

// Files that come from memory hold keys from everywhere, so that one of them lies over a whole level. They
// are written anew, as many small ones that each lie over little.
Purger::Merge Purger::newest_files(const ColumnFamilyMetaData& found, uint64_t most_bytes) const {
  Merge merge;
  for (const SstFileMetaData& file : found.levels[0].files) {
    if (file.being_compacted || !belongs_to_round(file)) continue;
    merge.files.push_back(file.relative_filename);
    merge.bytes += file.size;
  }
  const size_t below = first_level_with_files(found);
  uint64_t bytes_below = 0;
  for (size_t level = below; level < found.levels.size(); ++level) bytes_below += found.levels[level].size;
  merge.output_level = static_cast<int>(bytes_below == 0 ? below : std::max<size_t>(1, below - 1));
  merge.file_limit = file_limit(most_bytes, merge.bytes, bytes_below);
  return merge;
}

Purger::Merge Purger::first_files(const ColumnFamilyMetaData& found, size_t level,
                                  uint64_t most_bytes) const {
  Merge merge;
  merge.output_level = static_cast<int>(level + 1);
  merge.file_limit = usual_file_bytes();
  for (const SstFileMetaData& file : found.levels[level].files) {
    if (file.being_compacted || !belongs_to_round(file)) {
      if (merge.files.empty()) continue;
      break;
    }
    const uint64_t bytes =
        file.size + bytes_between(found.levels[level + 1], file.smallestkey, file.largestkey);
    if (!merge.files.empty() && merge.bytes + bytes > most_bytes) break;
    merge.files.push_back(file.relative_filename);
    merge.bytes += bytes;
  }
  return merge;
}

}  // namespace commitd::storage

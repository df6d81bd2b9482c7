#include "storage/rocks/history.h"

#include <algorithm>
#include <utility>

#include "base/packed_int.h"
#include "observe/metrics.h"
#include "storage/older_version.h"
#include "storage/rocks/cached_cursor.h"

namespace commitd::storage {
namespace {

using ByIndex = std::map<uint32_t, uint64_t>;

constexpr const char* kProperty = "commitd.entries";
constexpr size_t kIdBytes = 4, kCountBytes = 8;

// An index's number of entries, one after the other.
std::string encode(const ByIndex& entries) {
  std::string bytes;
  for (const auto& [index_id, count] : entries) {
    append_big_endian(bytes, index_id, kIdBytes);
    append_big_endian(bytes, count, kCountBytes);
  }
  return bytes;
}

void add_decoded(std::string_view bytes, ByIndex& entries) {
  for (; bytes.size() >= kIdBytes + kCountBytes; bytes.remove_prefix(kIdBytes + kCountBytes))
    entries[load_be32(bytes.data())] += load_be(bytes.data() + kIdBytes, kCountBytes);
}

// False for a file from before there was the property.
bool add_entries_of(const rocksdb::TableProperties& file, ByIndex& entries) {
  const auto found = file.user_collected_properties.find(kProperty);
  if (found == file.user_collected_properties.end()) return false;
  add_decoded(found->second, entries);
  return true;
}

bool add_entries_of(const std::vector<std::string>& files, const rocksdb::TablePropertiesCollection& known,
                    ByIndex& entries) {
  return std::ranges::all_of(files, [&](const std::string& name) {
    const auto file = known.find(name);
    return file != known.end() && add_entries_of(*file->second, entries);
  });
}

class EntryCounter final : public rocksdb::TablePropertiesCollector {
 public:
  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice&, rocksdb::EntryType type,
                             rocksdb::SequenceNumber, uint64_t) override {
    if (type == rocksdb::kEntryRangeDeletion || !is_table_key({key.data(), key.size()}))
      return rocksdb::Status::OK();
    const uint32_t index_id = load_be32(key.data());
    if (count_ == nullptr || index_id != counted_) {
      counted_ = index_id;
      count_ = &entries_[index_id];
    }
    ++*count_;
    return rocksdb::Status::OK();
  }
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    properties->emplace(kProperty, encode(entries_));
    return rocksdb::Status::OK();
  }
  rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return kProperty; }

 private:
  ByIndex entries_;
  uint32_t counted_ = 0;
  uint64_t* count_ = nullptr;  // of `counted_`
};

class EntryCounterFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new EntryCounter();
  }
  const char* Name() const override { return kProperty; }
};

}  // namespace

BatchHistory::Changes& BatchHistory::of(uint32_t index_id) {
  for (auto known = changes_.rbegin(); known != changes_.rend(); ++known)
    if (known->index_id == index_id) return *known;
  return changes_.emplace_back(index_id);
}

// An erased row leaves its last version and the tombstone that hides it.
void BatchHistory::add(std::string_view key, const WriteSet::Entry& entry) {
  if (!is_table_key(key)) return;
  Changes& changes = of(load_be32(key.data()));
  ++changes.entries;
  changes.garbage += (has_older_version(entry) ? 1 : 0) + (entry.value ? 0 : 1);
}

void History::written(const BatchHistory& batch) {
  uint64_t more = 0;
  MutexLock lock(mutex_);
  for (const BatchHistory::Changes& changes : batch.changes()) {
    memtable_[changes.index_id] += changes.entries;
    if (changes.garbage == 0) continue;
    garbage_[changes.index_id] += changes.garbage;
    more += changes.garbage;
  }
  length_.fetch_add(more, std::memory_order_relaxed);
}

std::vector<Purging::Garbage> History::garbage() const {
  std::vector<Purging::Garbage> all;
  MutexLock lock(mutex_);
  for (const auto& [index_id, entries] : garbage_) all.push_back({index_id, entries});
  return all;
}

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> History::entry_counter() {
  return std::make_shared<EntryCounterFactory>();
}

// Merging drops garbage and nothing else. More may go than was counted: what was there at the start, and what
// an erased range held.
void History::gone(const ByIndex& before, const ByIndex& after) {
  static auto& removed = observe::counter("commitd_purge_removed_total",
                                          "Old versions and tombstones that flushes and merges dropped.");
  for (const auto& [index_id, entries] : before) {
    const auto kept = after.find(index_id);
    const uint64_t still = kept == after.end() ? 0 : kept->second;
    if (entries <= still) continue;
    removed.add(entries - still);
    const auto counted = garbage_.find(index_id);
    if (counted == garbage_.end()) continue;
    const uint64_t less = std::min(counted->second, entries - still);
    counted->second -= less;
    if (counted->second == 0) garbage_.erase(counted);
    length_.fetch_sub(less, std::memory_order_relaxed);
  }
}

void History::OnMemTableSealed(const rocksdb::MemTableInfo& info) {
  MutexLock lock(mutex_);
  sealed_.push_back({info.first_seqno, std::exchange(memtable_, {})});
}

void History::OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& info) {
  ByIndex in_file;
  const bool known = add_entries_of(info.table_properties, in_file);
  MutexLock lock(mutex_);
  ByIndex in_memory;
  for (; !sealed_.empty() && sealed_.front().first <= info.largest_seqno; sealed_.pop_front())
    for (const auto& [index_id, entries] : sealed_.front().entries) in_memory[index_id] += entries;
  if (known) gone(in_memory, in_file);
}

void History::merged(const rocksdb::CompactionJobInfo& info) {
  ByIndex before, after;
  if (!info.status.ok() || !add_entries_of(info.input_files, info.table_properties, before) ||
      !add_entries_of(info.output_files, info.table_properties, after))
    return;
  MutexLock lock(mutex_);
  gone(before, after);
}

}  // namespace commitd::storage

#include "storage/memory/memory_tables.h"

#include <algorithm>
#include <mutex>

#include "base/error_codes.h"
#include "base/packed_int.h"
#include "storage/final_entries.h"
#include "storage/table_engines.h"

namespace commitd::storage {
namespace {

// A node of the tree and the strings' own.
constexpr uint64_t kEntryOverhead = 64;
// So much more than needed may stay reserved.
constexpr uint64_t kSpareBytes = 1 << 20;

uint64_t size_of(std::string_view key, std::string_view value) {
  return key.size() + value.size() + kEntryOverhead;
}

uint32_t index_of(std::string_view key) {
  return static_cast<uint32_t>(load_be(key.data(), 4));
}

}  // namespace

// Finds its place anew at each step, because entries come and go meanwhile.
class MemoryTables::Scan final : public Iterator {
 public:
  Scan(const MemoryTables& tables, std::string lower, std::string upper)
      : tables_(tables), lower_(std::move(lower)), upper_(std::move(upper)) {}

  void seek(std::string_view key) override {
    std::shared_lock lock(tables_.mutex_);
    stand_on(tables_.entries_.lower_bound(std::max<std::string_view>(key, lower_)));
  }
  void seek_for_prev(std::string_view key) override {
    std::shared_lock lock(tables_.mutex_);
    const bool beyond = !upper_.empty() && key >= upper_;
    stand_before(beyond ? tables_.entries_.lower_bound(upper_) : tables_.entries_.upper_bound(key));
  }
  void next() override {
    std::shared_lock lock(tables_.mutex_);
    stand_on(tables_.entries_.upper_bound(key_));
  }
  void prev() override {
    std::shared_lock lock(tables_.mutex_);
    stand_before(tables_.entries_.lower_bound(key_));
  }
  bool valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  std::string_view value() const override { return value_; }
  Status status() const override { return {}; }

 private:
  void stand_on(Entries::const_iterator at) {
    valid_ = at != tables_.entries_.end() && at->first >= lower_ && (upper_.empty() || at->first < upper_);
    if (!valid_) return;
    key_ = at->first;
    value_ = at->second;
  }
  void stand_before(Entries::const_iterator at) {
    if (at == tables_.entries_.begin()) {
      valid_ = false;
      return;
    }
    stand_on(--at);
  }

  const MemoryTables& tables_;
  const std::string lower_, upper_;
  bool valid_ = false;
  std::string key_, value_;
};

void MemoryTables::start(uint64_t next_table_id, bool any) {
  any_lost_ = any;
  first_new_table_ = next_table_id;
}

bool MemoryTables::lost_rows(const TableDef& table) const {
  return any_lost_ && engine_of(table).in_memory && table.id < first_new_table_;
}

bool MemoryTables::get(std::string_view key, std::string& value) const {
  std::shared_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  value = found->second;
  return true;
}

std::unique_ptr<Iterator> MemoryTables::iterate(std::string lower, std::string upper) const {
  return std::make_unique<Scan>(*this, std::move(lower), std::move(upper));
}

void MemoryTables::apply(const WriteSet& writes) {
  if (first_new_table_ == 0) return;
  std::lock_guard lock(mutex_);
  for (const auto& [begin, end] : writes.erased_ranges()) erase_range(begin, end);
  for (const auto& [key, entry] : writes.entries()) entry.value ? put(key, *entry.value) : erase(key);
  (void)reserved_.cover(all_bytes_);
  give_back_memory();
}

Status MemoryTables::check_room(const TableDef& table, uint64_t bytes, uint64_t table_limit) {
  std::lock_guard lock(mutex_);
  uint64_t wanted = bytes;
  for (const IndexDef& index : table.indexes) {
    const auto known = bytes_.find(index.id);
    if (known != bytes_.end()) wanted += known->second;
  }
  if (wanted <= table_limit && reserved_.cover(all_bytes_ + bytes)) return {};
  return make_error(er::kRecordFileFull, "The table '{}' is full", table.name);
}

void MemoryTables::account(Entries::const_iterator entry, bool added) {
  const uint64_t size = size_of(entry->first, entry->second);
  uint64_t& of_index = bytes_[index_of(entry->first)];
  of_index = added ? of_index + size : of_index - size;
  all_bytes_ = added ? all_bytes_ + size : all_bytes_ - size;
}

void MemoryTables::put(std::string_view key, std::string_view value) {
  auto [at, inserted] = entries_.try_emplace(std::string(key));
  if (!inserted) account(at, false);
  at->second = value;
  account(at, true);
}

void MemoryTables::erase(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  account(found, false);
  entries_.erase(found);
}

void MemoryTables::erase_range(std::string_view begin, std::string_view end) {
  const auto first = entries_.lower_bound(begin);
  const auto last = end.empty() ? entries_.end() : entries_.lower_bound(end);
  for (auto at = first; at != last; ++at) account(at, false);
  entries_.erase(first, last);
  std::erase_if(bytes_, [](const auto& index) { return index.second == 0; });
}

void MemoryTables::give_back_memory() {
  if (reserved_.held() <= 2 * all_bytes_ + kSpareBytes) return;
  reserved_.clear();
  (void)reserved_.cover(all_bytes_);
}

}  // namespace commitd::storage

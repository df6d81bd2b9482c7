#include "storage/write_set.h"

namespace commitd {

namespace {

size_t entry_size(std::string_view key, const WriteSet::Entry& entry) {
  return key.size() + (entry.value ? entry.value->size() : 0) + 64;
}

}  // namespace

void WriteSet::put(std::string key, std::string value, RowId row_id, uint64_t table_id) {
  set(std::move(key), Entry{std::move(value), table_id, row_id});
}

void WriteSet::erase(std::string key, RowId row_id, uint64_t table_id) {
  set(std::move(key), Entry{std::nullopt, table_id, row_id});
}

void WriteSet::set(std::string key, Entry entry) {
  byte_size_ += entry_size(key, entry);
  if (!keeps_undo_) {
    const size_t before = entries_.size();
    // Rows mostly come in the order of their keys: then there is nothing to search for.
    const auto at = entries_.try_emplace(entries_.end(), std::move(key));
    if (entries_.size() == before) byte_size_ -= entry_size(at->first, at->second);
    at->second = std::move(entry);
    return;
  }
  auto [at, inserted] = entries_.try_emplace(key);
  Undo undo{Undo::What::Entry, std::move(key), std::nullopt};
  if (!inserted) {
    byte_size_ -= entry_size(at->first, at->second);
    undo.previous = std::move(at->second);
  }
  at->second = std::move(entry);
  undo_.push_back(std::move(undo));
}

void WriteSet::erase_range(std::string begin, std::string end) {
  erased_ranges_.emplace_back(std::move(begin), std::move(end));
}

const WriteSet::Entry* WriteSet::find(std::string_view key) const {
  const auto at = entries_.find(key);
  return at == entries_.end() ? nullptr : &at->second;
}

uint64_t WriteSet::new_provisional_row_id(uint64_t table_id) {
  uint64_t& count = provisional_counts_[table_id];
  if (keeps_undo_) undo_.push_back({Undo::What::ProvisionalCount, {}, std::nullopt, table_id, count});
  return kProvisionalRowId | count++;
}

void WriteSet::raise_auto_increment(uint64_t table_id, uint64_t next) {
  uint64_t& known = auto_increment_[table_id];
  if (known >= next) return;
  if (keeps_undo_) undo_.push_back({Undo::What::AutoIncrement, {}, std::nullopt, table_id, known});
  known = next;
}

void WriteSet::restart_auto_increment(uint64_t table_id, uint64_t next) {
  restarted_auto_increment_[table_id] = next;
}

void WriteSet::rollback_to(Mark mark) {
  while (undo_.size() > mark) {
    Undo undo = std::move(undo_.back());
    undo_.pop_back();
    switch (undo.what) {
      case Undo::What::Entry:
        restore(undo.key, std::move(undo.previous));
        break;
      case Undo::What::ProvisionalCount:
        provisional_counts_[undo.table_id] = undo.previous_number;
        break;
      case Undo::What::AutoIncrement:
        auto_increment_[undo.table_id] = undo.previous_number;
        break;
    }
  }
}

void WriteSet::restore(const std::string& key, std::optional<Entry> previous) {
  const auto at = entries_.find(key);
  byte_size_ -= entry_size(key, at->second);
  if (!previous) {
    entries_.erase(at);
    return;
  }
  byte_size_ += entry_size(key, *previous);
  at->second = std::move(*previous);
}

void WriteSet::clear() {
  entries_.clear();
  erased_ranges_.clear();
  provisional_counts_.clear();
  auto_increment_.clear();
  restarted_auto_increment_.clear();
  undo_.clear();
  byte_size_ = 0;
}

}  // namespace commitd

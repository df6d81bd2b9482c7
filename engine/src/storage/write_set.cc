#include "storage/write_set.h"

#include "base/error_codes.h"
#include "storage/older_version.h"
#include "storage/table_engines.h"

namespace commitd {

namespace {

// A smaller value saves less than the place of it takes.
constexpr size_t kWorthSpilling = 64;
constexpr size_t kMostWaiting = 1 << 20;

size_t entry_size(std::string_view key, const WriteSet::Entry& entry) {
  return key.size() + (entry.value ? entry.value->size() : 0) + 64;
}

}  // namespace

void WriteSet::put(std::string key, std::string value, RowId row_id, uint64_t table_id) {
  set(std::move(key), Entry{std::move(value), table_id, row_id});
}

void WriteSet::erase(std::string key, RowId row_id, uint64_t table_id) {
  const uint64_t mark = row_id == RowId::Final ? storage::kHasOlderVersion : 0;
  set(std::move(key), Entry{std::nullopt, table_id | mark, row_id});
}

void WriteSet::spill_beyond(size_t bytes, TemporaryPlace place) {
  most_in_memory_ = bytes;
  place_ = std::move(place);
}

void WriteSet::move_out(std::string_view key, Entry& entry) {
  if (place_.fs == nullptr || byte_size_ < most_in_memory_ || !entry.value ||
      entry.value->size() < kWorthSpilling || storage::engine_of_key(key).in_memory)
    return;
  entry.spilled_at = spilled_bytes_;
  entry.spilled_length = static_cast<uint32_t>(entry.value->size());
  waiting_ += *entry.value;
  spilled_bytes_ += entry.spilled_length;
  entry.value.emplace();
}

Status WriteSet::write_spilled() {
  if (waiting_.size() < kMostWaiting) return {};
  if (!file_) {
    auto opened = open_temporary_file(place_);
    if (!opened) return std::move(opened).error();
    file_ = std::move(*opened);
  }
  const std::string_view bytes = waiting_;
  COMMITD_RETURN_IF_ERROR(file_->write_at(spilled_bytes_ - waiting_.size(), std::span(&bytes, 1)));
  waiting_.clear();
  return {};
}

Status WriteSet::read_value(const Entry& entry, std::string& into) const {
  if (!entry.spilled()) {
    into = *entry.value;
    return {};
  }
  const uint64_t in_file = spilled_bytes_ - waiting_.size();
  if (entry.spilled_at >= in_file) {
    into = waiting_.substr(entry.spilled_at - in_file, entry.spilled_length);
    return {};
  }
  into.resize(entry.spilled_length);
  auto got = file_->read_at(entry.spilled_at, into);
  if (!got) return std::move(got).error();
  if (*got != into.size()) return make_error(er::kErrorOnRead, "A transaction's temporary file is cut off");
  return {};
}

void WriteSet::set(std::string key, Entry entry) {
  move_out(key, entry);
  byte_size_ += entry_size(key, entry);
  if (!keeps_undo_) {
    const size_t before = entries_.size();
    // Rows mostly come in the order of their keys: then there is nothing to search for.
    const auto at = entries_.try_emplace(entries_.end(), std::move(key));
    if (entries_.size() == before) {
      byte_size_ -= entry_size(at->first, at->second);
      storage::mark_as(at->second, entry);
    }
    at->second = std::move(entry);
    return;
  }
  auto [at, inserted] = entries_.try_emplace(key);
  Undo undo{Undo::What::Entry, std::move(key), std::nullopt};
  if (!inserted) {
    byte_size_ -= entry_size(at->first, at->second);
    storage::mark_as(at->second, entry);
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
  file_.reset();
  waiting_.clear();
  spilled_bytes_ = 0;
}

}  // namespace commitd

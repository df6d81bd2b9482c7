#include "replication/row_finder.h"

#include <algorithm>

#include "base/error_codes.h"
#include "sql/change/row_rules.h"
#include "storage/record/key_codec.h"
#include "txn/row_writes.h"

namespace commitd::replication {
namespace {

std::string table_prefix(const TableDef& table) {
  std::string prefix;
  append_index_id(prefix, table.clustered().id);
  return prefix;
}

// Byte by byte, since a search looks at many.
Result<bool> is_stored_as(const TableDef& table, std::string_view stored, std::string_view image) {
  std::string scratch;
  auto here = image_of_stored_row(table, stored, scratch);
  if (!here.ok()) return std::move(here).error();
  return *here == image;
}

Error not_stored_yet() {
  return make_error(er::kErrorOnRead, "What is in front of the transaction is not stored yet");
}

}  // namespace

Result<bool> same_row(const TableDef& table, std::string_view image, std::string_view other) {
  if (image == other) return true;
  auto row = decode_row_image(table, image), other_row = decode_row_image(table, other);
  if (!row.ok()) return std::move(row).error();
  if (!other_row.ok()) return std::move(other_row).error();
  return std::equal(row->begin(), row->end(), other_row->begin(), [](const Value& mine, const Value& its) {
    return mine.is_null() == its.is_null() && mine.to_text() == its.to_text();
  });
}

Error row_not_found(const TableDef& table) {
  return make_error(er::kKeyNotFound, "Can't find record in '{}'", table.name);
}

Result<bool> RowFinder::read(std::string_view key, std::string& stored) {
  if (const WriteSet::Entry* own = writes_.find(key)) {
    if (!own->value) return false;
    COMMITD_RETURN_IF_ERROR(writes_.read_value(*own, stored));
    return true;
  }
  if (front_.unstored != nullptr && front_.unstored->may_have(key)) {
    came_too_early_ = true;
    return not_stored_yet();
  }
  if (front_.read != nullptr) front_.read->push_back(UnstoredKeys::hash_of(key));
  return storage_.read(key, stored);
}

Status RowFinder::check_unique(const TableDef& table, const Row& row, std::string_view self) {
  std::string entry;
  for (const IndexDef& index : table.indexes) {
    if (!index.unique || (!index.primary && !enforces_uniqueness(table, index, row))) continue;
    const std::string key =
        index.primary ? clustered_key(table, row, 0) : secondary_key(table, index, row, std::string_view{});
    if (key == self) continue;
    auto taken = read(key, entry);
    if (!taken.ok()) return std::move(taken).error();
    if (!*taken || (!index.primary && clustered_key_of_entry(table, key, entry) == self)) continue;
    return sql::duplicate_error(table, index, row);
  }
  return {};
}

Result<bool> RowFinder::is_same(const TableDef& table, const std::string& key, std::string_view image) {
  std::string stored;
  auto found = read(key, stored);
  if (!found.ok() || !*found) return found;
  std::string scratch;
  auto here = image_of_stored_row(table, stored, scratch);
  if (!here.ok()) return std::move(here).error();
  return same_row(table, *here, image);
}

Status RowFinder::check_same(const TableDef& table, const std::string& key, std::string_view image) {
  auto same = is_same(table, key, image);
  if (!same.ok()) return std::move(same).error();
  return *same ? Status{} : row_not_found(table);
}

Result<uint64_t> RowFinder::row_id_of(const TableDef& table, std::string_view image,
                                      std::optional<uint64_t> logged) {
  if (logged) {
    auto same = is_same(table, clustered_key(table, {}, *logged), image);
    if (!same.ok()) return std::move(same).error();
    if (*same) return *logged;
  }
  if (!front_.all_is_stored()) {
    must_be_alone_ = true;
    return not_stored_yet();
  }
  if (const auto own = search_own(table, image)) return *own;
  const std::string first = table_prefix(table), end = prefix_end(first);
  std::string& last = last_found_[table.clustered().id];
  const std::string middle = last.empty() ? first : last;
  for (const auto& [lower, upper] : {std::pair(middle, end), std::pair(first, middle)}) {
    auto found = search(table, image, lower, upper);
    if (!found.ok()) return std::move(found).error();
    if (!*found) continue;
    last = clustered_key(table, {}, **found);
    return **found;
  }
  return row_not_found(table);
}

Result<std::optional<uint64_t>> RowFinder::search(const TableDef& table, std::string_view image,
                                                  std::string lower, std::string upper) {
  std::string changed;
  const std::string first = std::move(lower);
  auto rows = storage_.iterate(first, std::move(upper));
  for (rows->seek(first); rows->valid(); rows->next()) {
    std::string_view stored = rows->value();
    if (const WriteSet::Entry* own = writes_.find(rows->key())) {
      if (!own->value) continue;
      COMMITD_RETURN_IF_ERROR(writes_.read_value(*own, changed));
      stored = changed;
    }
    auto same = is_stored_as(table, stored, image);
    if (!same.ok()) return std::move(same).error();
    if (*same) return std::optional(txn::row_id_of(rows->key()));
  }
  COMMITD_RETURN_IF_ERROR(rows->status());
  return std::optional<uint64_t>();
}

// A row that this transaction has put there; its row id is still provisional.
std::optional<uint64_t> RowFinder::search_own(const TableDef& table, std::string_view image) const {
  const std::string prefix = table_prefix(table);
  std::string stored;
  for (auto at = writes_.entries().lower_bound(prefix);
       at != writes_.entries().end() && at->first.starts_with(prefix); ++at) {
    const auto& [key, entry] = *at;
    if (!entry.value || (txn::row_id_of(key) & kProvisionalRowId) == 0) continue;
    if (!writes_.read_value(entry, stored).ok()) continue;
    if (auto same = is_stored_as(table, stored, image); same.ok() && *same) return txn::row_id_of(key);
  }
  return std::nullopt;
}

}  // namespace commitd::replication

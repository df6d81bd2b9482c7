#include "txn/row_writes.h"

#include "base/packed_int.h"
#include "storage/older_version.h"
#include "storage/record/key_codec.h"
#include "txn/transaction.h"

namespace commitd::txn {

namespace {

WriteSet::RowId row_id_at(const TableDef& table, uint64_t row_id, WriteSet::RowId where) {
  const bool provisional = !table.has_primary_key() && is_provisional(row_id);
  return provisional ? where : WriteSet::RowId::Final;
}

// A secondary entry with the place its row id stands at.
struct Entry {
  std::string key, value;
  WriteSet::RowId row_id;
};

Entry secondary_entry(const TableDef& table, const IndexDef& index, const Row& row,
                      std::string_view clustered) {
  const std::string_view suffix = clustered_suffix(clustered);
  const bool suffix_in_key = !enforces_uniqueness(table, index, row);
  const uint64_t row_id = table.has_primary_key() ? 0 : row_id_of(clustered);
  const auto where = suffix_in_key ? WriteSet::RowId::AtKeyEnd : WriteSet::RowId::AtValueEnd;
  return {secondary_key(table, index, row, suffix), secondary_value(suffix_in_key, suffix),
          row_id_at(table, row_id, where)};
}

void erase_index_entry(WriteSet& writes, const TableDef& table, const IndexDef& index, const Row& row,
                       std::string_view clustered) {
  Entry entry = secondary_entry(table, index, row, clustered);
  writes.erase(std::move(entry.key), entry.row_id, table.id);
}

template <class Visit>
void for_each_secondary(const TableDef& table, Visit&& visit) {
  for (size_t i = 1; i < table.indexes.size(); ++i) visit(table.indexes[i]);
}

void raise_auto_increment(WriteSet& writes, const TableDef& table, const Row& row) {
  if (const uint64_t next = next_after(table, row); next != 0) writes.raise_auto_increment(table.id, next);
}

}  // namespace

uint64_t row_id_of(std::string_view clustered_key) {
  return load_be(clustered_key.data() + clustered_key.size() - 8, 8);
}

uint64_t next_after(const TableDef& table, const Row& row) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].auto_increment) continue;
    const Value& value = row[i];
    if (value.kind() == Value::Kind::UInt)
      return value.as_uint() == UINT64_MAX ? UINT64_MAX : value.as_uint() + 1;
    if (value.kind() == Value::Kind::Int && value.as_int() > 0)
      return static_cast<uint64_t>(value.as_int()) + 1;
    return 0;
  }
  return 0;
}

void put_index_entry(WriteSet& writes, const TableDef& table, const IndexDef& index, const Row& row,
                     std::string_view clustered) {
  Entry entry = secondary_entry(table, index, row, clustered);
  writes.put(std::move(entry.key), std::move(entry.value), entry.row_id, table.id);
}

void put_row(WriteSet& writes, const TableDef& table, const Row& row, std::string_view image,
             uint64_t row_id) {
  std::string key = clustered_key(table, row, row_id);
  for_each_secondary(table, [&](const IndexDef& index) { put_index_entry(writes, table, index, row, key); });
  writes.put(std::move(key), stored_row(table, image), row_id_at(table, row_id, WriteSet::RowId::AtKeyEnd),
             table.id);
  raise_auto_increment(writes, table, row);
}

void erase_row(WriteSet& writes, const TableDef& table, const Row& row, uint64_t row_id) {
  std::string key = clustered_key(table, row, row_id);
  for_each_secondary(table,
                     [&](const IndexDef& index) { erase_index_entry(writes, table, index, row, key); });
  writes.erase(std::move(key), row_id_at(table, row_id, WriteSet::RowId::AtKeyEnd), table.id);
}

void replace_row(WriteSet& writes, const TableDef& table, const Row& old_row, const Row& new_row,
                 std::string_view new_image, uint64_t row_id) {
  std::string old_key = clustered_key(table, old_row, row_id);
  std::string new_key = clustered_key(table, new_row, row_id);
  if (old_key != new_key) {
    erase_row(writes, table, old_row, row_id);
    put_row(writes, table, new_row, new_image, row_id);
    return;
  }
  for_each_secondary(table, [&](const IndexDef& index) {
    const std::string_view suffix = clustered_suffix(old_key);
    if (secondary_key(table, index, old_row, suffix) == secondary_key(table, index, new_row, suffix)) return;
    erase_index_entry(writes, table, index, old_row, old_key);
    put_index_entry(writes, table, index, new_row, old_key);
  });
  const auto final_at = row_id_at(table, row_id, WriteSet::RowId::AtKeyEnd);
  const uint64_t mark = final_at == WriteSet::RowId::Final ? storage::kHasOlderVersion : 0;
  writes.put(std::move(new_key), stored_row(table, new_image), final_at, table.id | mark);
  raise_auto_increment(writes, table, new_row);
}

}  // namespace commitd::txn

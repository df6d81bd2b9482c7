#include "sql/information_schema/locked_objects.h"

#include "base/bytes.h"
#include "sql/catalog.h"
#include "storage/record/column_format.h"

namespace commitd::sql {
namespace {

bool is_integer(FieldType type) {
  return type == FieldType::Tiny || type == FieldType::Short || type == FieldType::Int24 ||
         type == FieldType::Long || type == FieldType::LongLong;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text = "0x";
  for (unsigned char c : bytes) text += fmt::format("{:02X}", c);
  return text;
}

uint64_t big_endian(std::string_view bytes) {
  uint64_t number = 0;
  for (unsigned char c : bytes) number = number << 8 | c;
  return number;
}

// The inverse of append_key_column for integers; sort weights cannot be turned back into text.
std::string integer_text(const ColumnDef& column, std::string_view bytes) {
  const uint64_t bits = big_endian(bytes);
  if (column.is_unsigned) return std::to_string(bits);
  const uint64_t sign = uint64_t{1} << (8 * bytes.size() - 1);
  return std::to_string(static_cast<int64_t>(bits - sign));
}

void append(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : ", ") + part;
}

std::string key_text(const TableDef& table, const IndexDef& index, std::string_view key) {
  std::string text;
  for (const IndexColumn& part : index.columns) {
    const ColumnDef& column = table.columns[part.column];
    if (column.nullable && !key.empty()) {
      const bool null = key.front() == 0;
      key.remove_prefix(1);
      if (null) {
        append(text, "NULL");
        continue;
      }
    }
    const size_t size = is_integer(column.type) ? number_size(column) : 0;
    if (size == 0 || key.size() < size) break;
    append(text, integer_text(column, key.substr(0, size)));
    key.remove_prefix(size);
  }
  if (!key.empty()) append(text, hexadecimal(key));
  return text;
}

}  // namespace

LockedObjects::LockedObjects(const SessionState& session) {
  Catalog* catalog = session.server.catalog;
  if (catalog == nullptr) return;
  for (const std::string& db : catalog->databases()) {
    for (const TablePtr& table : catalog->tables(db)) {
      for (const IndexDef& index : table->indexes) indexes_[index.id] = {table, &index};
    }
  }
}

std::optional<LockedObject> LockedObjects::find(std::string_view lock_key) const {
  if (const auto table = txn::table_of_lock_key(lock_key)) {
    if (table->db.empty() || table->table.empty()) return std::nullopt;
    return LockedObject{std::string(table->db), std::string(table->table), "", ""};
  }
  constexpr size_t kIndexIdSize = 4;
  if (lock_key.size() < kIndexIdSize) return std::nullopt;
  const auto found = indexes_.find(static_cast<uint32_t>(big_endian(lock_key.substr(0, kIndexIdSize))));
  if (found == indexes_.end()) return std::nullopt;
  const auto& [table, index] = found->second;
  const std::string name =
      table->has_primary_key() || index->id != table->clustered().id ? index->name : "GEN_CLUST_INDEX";
  return LockedObject{table->db, table->name, name, key_text(*table, *index, lock_key.substr(kIndexIdSize))};
}

}  // namespace commitd::sql

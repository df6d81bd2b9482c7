#include "binlog/table_map.h"

#include "base/bytes.h"
#include "storage/record/column_format.h"

namespace commitd::binlog {
namespace {

// Kinds of the optional metadata behind the null bitmap.
constexpr uint8_t kSignedness = 1;
constexpr uint8_t kDefaultCharset = 2;

bool is_character(FieldType type) {
  switch (type) {
    case FieldType::VarChar:
    case FieldType::VarString:
    case FieldType::String:
    case FieldType::TinyBlob:
    case FieldType::Blob:
    case FieldType::MediumBlob:
    case FieldType::LongBlob:
      return true;
    default:
      return false;
  }
}

void append_field(std::string& out, uint8_t kind, std::string_view value) {
  ByteWriter w(out);
  w.u8(kind);
  w.lenenc_string(value);
}

// One bit per numeric column, from the top of each byte on.
std::string signedness(const TableDef& table) {
  std::string bits;
  size_t numeric = 0;
  for (const ColumnDef& column : table.columns) {
    if (!is_numeric(column.type)) continue;
    if (numeric % 8 == 0) bits += '\0';
    if (column.is_unsigned) bits.back() |= static_cast<char>(0x80 >> numeric % 8);
    ++numeric;
  }
  return bits;
}

// The table's collation, then (character column, collation) where a column's differs.
std::string charsets(const TableDef& table) {
  std::string out, exceptions;
  size_t character = 0;
  for (const ColumnDef& column : table.columns) {
    if (!is_character(column.type)) continue;
    if (column.collation != table.default_collation) {
      ByteWriter w(exceptions);
      w.lenenc(character);
      w.lenenc(column.collation);
    }
    ++character;
  }
  if (character == 0) return out;
  ByteWriter(out).lenenc(table.default_collation);
  return out + exceptions;
}

std::string nullable_bitmap(const TableDef& table) {
  std::string bits((table.columns.size() + 7) / 8, '\0');
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].nullable) bits[i / 8] |= static_cast<char>(1 << i % 8);
  }
  return bits;
}

}  // namespace

void append_table_map(std::string& out, EventOrigin origin, const TableDef& table) {
  std::string types, metadata;
  for (const ColumnDef& column : table.columns) {
    const ColumnMetadata of_column = column_metadata(column);
    types += static_cast<char>(of_column.type);
    metadata += of_column.metadata;
  }
  const size_t start = begin_event(out, EventType::TableMap, origin);
  ByteWriter w(out);
  w.le48(table.id);
  w.le16(1);  // MySQL always sets bit 0
  w.u8(table.db.size());
  w.nul_string(table.db);
  w.u8(table.name.size());
  w.nul_string(table.name);
  w.lenenc_string(types);
  w.lenenc_string(metadata);
  w.bytes(nullable_bitmap(table));
  if (const std::string bits = signedness(table); !bits.empty()) append_field(out, kSignedness, bits);
  if (const std::string sets = charsets(table); !sets.empty()) append_field(out, kDefaultCharset, sets);
  end_event(out, start);
}

}  // namespace commitd::binlog

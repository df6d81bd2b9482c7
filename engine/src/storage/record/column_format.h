// How one column's value stands in a row image, and how TABLE_MAP describes that to a reader. What a Value
// holds, by column type:
//   integers, YEAR     Int or UInt          FLOAT, DOUBLE       Double
//   DECIMAL            Decimal              BIT                 UInt
//   CHAR, VARCHAR, TEXT    String, UTF-8    BINARY, VARBINARY, BLOB    String, binary
//   ENUM, SET          String: the label, or the labels separated by commas; as input also their number
//   DATE, TIME, DATETIME   Temporal         TIMESTAMP           Temporal, in UTC
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "storage/record/table_def.h"

namespace commitd {

// The type byte and the metadata bytes that TABLE_MAP has for a column.
struct ColumnMetadata {
  FieldType type;
  std::string metadata;
};
ColumnMetadata column_metadata(const ColumnDef& column);

// Types of numbers; BIT is none.
bool is_numeric(FieldType type);

// Most bytes a value of this column can take (CHAR and VARCHAR: characters times the character set's
// largest).
uint32_t max_column_bytes(const ColumnDef& column);

void append_field(std::string& out, const ColumnDef& column, const Value& value);
// Bytes the field at the start of `bytes` takes; nullopt when `bytes` ends inside it.
std::optional<size_t> field_size(const ColumnDef& column, std::string_view bytes);
// `field` is exactly field_size() long.
Value load_field(const ColumnDef& column, std::string_view field);

// The number that an ENUM or SET value is stored as.
uint64_t label_number(const ColumnDef& column, const Value& value);
// Bytes of that number; also of an integer type, of BIT and of YEAR.
size_t number_size(const ColumnDef& column);

}  // namespace commitd

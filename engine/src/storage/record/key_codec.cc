#include "storage/record/key_codec.h"

#include <algorithm>
#include <bit>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/decimal.h"
#include "base/packed_int.h"
#include "base/temporal.h"
#include "storage/record/column_format.h"

namespace commitd {

namespace {

// In front of a nullable column's value.
constexpr char kNullMarker = 0;
constexpr char kValueMarker = 1;

// Where a secondary entry keeps the clustered suffix.
constexpr char kSuffixInKey = 'K';
constexpr char kSuffixInValue = 'V';

void append_integer(std::string& key, const ColumnDef& column, const Value& value) {
  const size_t size = number_size(column);
  uint64_t bits = value.kind() == Value::Kind::UInt ? value.as_uint() : static_cast<uint64_t>(value.as_int());
  if (!column.is_unsigned) bits ^= uint64_t{1} << (8 * size - 1);
  append_big_endian(key, bits, size);
}

void append_real(std::string& key, double number) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(number == 0 ? 0.0 : number);  // -0 and 0 are one key
  append_big_endian(key, (bits & kSign) != 0 ? ~bits : bits | kSign, 8);
}

void append_date_key(std::string& key, const Temporal& date) {
  append_big_endian(key, date.day | date.month << 5 | static_cast<uint32_t>(date.year) << 9, 3);
}

void append_text_key(std::string& key, const ColumnDef& column, uint32_t prefix_length,
                     std::string_view text) {
  const Collation& collation = collation_or_binary(column.collation);
  if (collation.order != Order::Bytes) {
    append_sort_key(collation, prefix_length == 0 ? text : character_prefix(text, prefix_length), key);
    return;
  }
  if (prefix_length != 0) text = text.substr(0, prefix_length);
  if (column.type != FieldType::String || text.size() >= column.length || prefix_length != 0) {
    append_sort_key(collation, text, key);
    return;
  }
  std::string padded(text);
  padded.resize(column.length, '\0');
  append_sort_key(collation, padded, key);
}

void append_value(std::string& key, const ColumnDef& column, const IndexColumn& part, const Value& value) {
  switch (column.type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return append_integer(key, column, value);
    case FieldType::Float:
    case FieldType::Double:
      return append_real(key, value.as_double());
    case FieldType::Date:
      return append_date_key(key, value.as_temporal());
    case FieldType::Enum:
    case FieldType::Set:
      return append_big_endian(key, label_number(column, value), number_size(column));
    case FieldType::Year:
    case FieldType::Bit:
    case FieldType::Decimal:
    case FieldType::NewDecimal:
    case FieldType::Time:
    case FieldType::Time2:
    case FieldType::DateTime:
    case FieldType::DateTime2:
    case FieldType::Timestamp:
    case FieldType::Timestamp2:
      return append_field(key, column, value);  // these images already order as the values do
    default:
      return append_text_key(key, column, part.prefix_length, value.as_string());
  }
}

}  // namespace

void append_index_id(std::string& key, uint32_t index_id) {
  append_big_endian(key, index_id, 4);
}

void append_key_column(std::string& key, const ColumnDef& column, const IndexColumn& part,
                       const Value& value) {
  if (column.nullable) key.push_back(value.is_null() ? kNullMarker : kValueMarker);
  if (!value.is_null()) append_value(key, column, part, value);
}

std::string index_key_prefix(const TableDef& table, const IndexDef& index, std::span<const Value> values) {
  std::string key;
  append_index_id(key, index.id);
  for (size_t i = 0; i < values.size(); ++i) {
    const IndexColumn& part = index.columns[i];
    append_key_column(key, table.columns[part.column], part, values[i]);
  }
  return key;
}

std::string clustered_key(const TableDef& table, std::span<const Value> row, uint64_t hidden_row_id) {
  std::string key;
  append_index_id(key, table.clustered().id);
  if (!table.has_primary_key()) {
    append_big_endian(key, hidden_row_id, 8);
    return key;
  }
  for (const IndexColumn& part : table.clustered().columns)
    append_key_column(key, table.columns[part.column], part, row[part.column]);
  return key;
}

std::string_view clustered_suffix(std::string_view clustered_key) {
  return clustered_key.substr(4);
}

std::string secondary_key(const TableDef& table, const IndexDef& index, std::span<const Value> row,
                          std::string_view suffix) {
  std::string key;
  append_index_id(key, index.id);
  for (const IndexColumn& part : index.columns)
    append_key_column(key, table.columns[part.column], part, row[part.column]);
  if (!enforces_uniqueness(table, index, row)) key.append(suffix);
  return key;
}

std::string secondary_value(bool suffix_in_key, std::string_view suffix) {
  std::string value(1, suffix_in_key ? kSuffixInKey : kSuffixInValue);
  if (suffix_in_key) {
    append_big_endian(value, suffix.size(), 2);
  } else {
    value.append(suffix);
  }
  return value;
}

std::string clustered_key_of_entry(const TableDef& table, std::string_view key, std::string_view value) {
  std::string_view suffix;
  if (value.size() == 3 && value[0] == kSuffixInKey) {
    const size_t length = load_be(value.data() + 1, 2);
    if (length > key.size()) return {};
    suffix = key.substr(key.size() - length);
  } else if (!value.empty() && value[0] == kSuffixInValue) {
    suffix = value.substr(1);
  } else {
    return {};
  }
  std::string clustered;
  append_index_id(clustered, table.clustered().id);
  clustered.append(suffix);
  return clustered;
}

bool enforces_uniqueness(const TableDef&, const IndexDef& index, std::span<const Value> row) {
  if (!index.unique || index.columns.empty()) return false;  // the hidden row id is unique by itself
  return std::none_of(index.columns.begin(), index.columns.end(),
                      [&](const IndexColumn& part) { return row[part.column].is_null(); });
}

std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<uint8_t>(end.back()) == 0xFF) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

}  // namespace commitd

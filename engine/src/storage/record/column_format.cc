#include "storage/record/column_format.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/charset/collation.h"
#include "base/charset/transcode.h"
#include "base/decimal.h"
#include "base/json/binary.h"
#include "base/packed_int.h"
#include "base/temporal.h"

namespace commitd {

namespace {

bool is_binary(const ColumnDef& column) {
  return column.collation == kBinaryCollation;
}

uint8_t length_bytes(const ColumnDef& column) {
  switch (column.type) {
    case FieldType::TinyBlob:
      return 1;
    case FieldType::Blob:
      return 2;
    case FieldType::MediumBlob:
      return 3;
    case FieldType::LongBlob:
    case FieldType::Json:
      return 4;
    default:
      return max_column_bytes(column) > 255 ? 2 : 1;
  }
}

// CHAR stands without its padding: spaces, or zero bytes for BINARY.
std::string_view without_padding(const ColumnDef& column, std::string_view text) {
  const char padding = is_binary(column) ? '\0' : ' ';
  while (!text.empty() && text.back() == padding) text.remove_suffix(1);
  return text;
}

void append_text(std::string& out, const ColumnDef& column, std::string_view text) {
  std::string converted;
  if (!stored_as_utf8(collation_or_binary(column.collation).charset)) {
    converted = latin1_from_utf8(text);
    text = converted;
  }
  if (column.type == FieldType::String) text = without_padding(column, text);
  append_little_endian(out, text.size(), length_bytes(column));
  out.append(text);
}

// A document stands in its binary form.
void append_json(std::string& out, const ColumnDef& column, std::string_view document) {
  append_little_endian(out, document.size(), length_bytes(column));
  out.append(document);
}

Value load_text(const ColumnDef& column, std::string_view field) {
  const std::string_view text = field.substr(length_bytes(column));
  if (is_binary(column)) {
    std::string bytes(text);
    if (column.type == FieldType::String) bytes.resize(std::max<size_t>(column.length, bytes.size()), '\0');
    return Value::string(std::move(bytes), true);
  }
  const bool utf8 = stored_as_utf8(collation_or_binary(column.collation).charset);
  return Value::string(utf8 ? std::string(text) : utf8_from_latin1(text));
}

std::string labels_of_set(const ColumnDef& column, uint64_t bits) {
  std::string text;
  for (size_t i = 0; i < column.labels.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (!text.empty()) text += ',';
    text += column.labels[i];
  }
  return text;
}

uint64_t set_of_labels(const ColumnDef& column, std::string_view text) {
  uint64_t bits = 0;
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find(','));
    const auto at = std::find(column.labels.begin(), column.labels.end(), label);
    if (at != column.labels.end()) bits |= uint64_t{1} << (at - column.labels.begin());
    text.remove_prefix(std::min(label.size() + 1, text.size()));
  }
  return bits;
}

// An ENUM may have the label ''.
Value no_label() {
  return Value::string("", true);
}

Value load_label(const ColumnDef& column, uint64_t number) {
  if (column.type == FieldType::Set) return Value::string(labels_of_set(column, number));
  if (number == 0 || number > column.labels.size()) return no_label();
  return Value::string(column.labels[number - 1]);
}

uint64_t integer_bits(const Value& value) {
  return value.kind() == Value::Kind::UInt ? value.as_uint() : static_cast<uint64_t>(value.as_int());
}

uint64_t year_number(const Value& value) {
  const uint64_t year = integer_bits(value);
  return year == 0 ? 0 : year - 1900;
}

Value load_integer(const ColumnDef& column, std::string_view field) {
  const uint64_t bits = load_le(field.data(), field.size());
  if (column.is_unsigned) return Value::unsigned_integer(bits);
  return Value::integer(sign_extend(bits, field.size()));
}

Value load_float(std::string_view field) {
  float number;
  std::memcpy(&number, field.data(), sizeof number);
  return Value::real_single(number);
}

Value load_double(std::string_view field) {
  double number;
  std::memcpy(&number, field.data(), sizeof number);
  return Value::real(number);
}

// TABLE_MAP has two bytes for CHAR's type and length; bits 8 and 9 of the length are XORed into the type.
std::string char_metadata(uint32_t bytes) {
  const uint32_t type = static_cast<uint32_t>(FieldType::String) ^ (bytes & 0x300) >> 4;
  return {static_cast<char>(type), static_cast<char>(bytes & 0xFF)};
}

std::string label_metadata(FieldType type, size_t bytes) {
  return {static_cast<char>(type), static_cast<char>(bytes)};
}

std::string var_char_metadata(uint32_t bytes) {
  std::string metadata;
  append_little_endian(metadata, bytes, 2);
  return metadata;
}

std::string one_byte(size_t value) {
  return std::string(1, static_cast<char>(value));
}

}  // namespace

ColumnMetadata column_metadata(const ColumnDef& column) {
  switch (column.type) {
    case FieldType::Float:
      return {FieldType::Float, one_byte(4)};
    case FieldType::Double:
      return {FieldType::Double, one_byte(8)};
    case FieldType::Decimal:
    case FieldType::NewDecimal:
      return {FieldType::NewDecimal, {static_cast<char>(column.length), static_cast<char>(column.decimals)}};
    case FieldType::Timestamp:
    case FieldType::Timestamp2:
      return {FieldType::Timestamp2, one_byte(column.decimals)};
    case FieldType::DateTime:
    case FieldType::DateTime2:
      return {FieldType::DateTime2, one_byte(column.decimals)};
    case FieldType::Time:
    case FieldType::Time2:
      return {FieldType::Time2, one_byte(column.decimals)};
    case FieldType::VarChar:
    case FieldType::VarString:
      return {FieldType::VarChar, var_char_metadata(max_column_bytes(column))};
    case FieldType::Bit:
      return {FieldType::Bit, {static_cast<char>(column.length % 8), static_cast<char>(column.length / 8)}};
    case FieldType::Enum:
    case FieldType::Set:
      return {FieldType::String, label_metadata(column.type, number_size(column))};
    case FieldType::String:
      return {FieldType::String, char_metadata(max_column_bytes(column))};
    case FieldType::TinyBlob:
    case FieldType::Blob:
    case FieldType::MediumBlob:
    case FieldType::LongBlob:
      return {FieldType::Blob, one_byte(length_bytes(column))};
    case FieldType::Json:
      return {FieldType::Json, one_byte(4)};
    default:
      return {column.type, {}};
  }
}

bool is_numeric(FieldType type) {
  switch (type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
    case FieldType::Float:
    case FieldType::Double:
    case FieldType::NewDecimal:
    case FieldType::Year:
      return true;
    default:
      return false;
  }
}

uint32_t max_column_bytes(const ColumnDef& column) {
  switch (column.type) {
    case FieldType::TinyBlob:
      return 0xFF;
    case FieldType::Blob:
      return 0xFFFF;
    case FieldType::MediumBlob:
      return 0xFFFFFF;
    case FieldType::LongBlob:
    case FieldType::Json:
      return 0xFFFFFFFF;
    default:
      return column.length * charset_info(collation_or_binary(column.collation).charset).max_bytes;
  }
}

size_t number_size(const ColumnDef& column) {
  switch (column.type) {
    case FieldType::Tiny:
    case FieldType::Year:
      return 1;
    case FieldType::Short:
      return 2;
    case FieldType::Int24:
      return 3;
    case FieldType::Long:
      return 4;
    case FieldType::Bit:
      return (column.length + 7) / 8;
    case FieldType::Enum:
      return column.labels.size() < 256 ? 1 : 2;
    case FieldType::Set: {
      const size_t bytes = (column.labels.size() + 7) / 8;
      return bytes > 4 ? 8 : std::max<size_t>(bytes, 1);
    }
    default:
      return 8;
  }
}

uint64_t label_number(const ColumnDef& column, const Value& value) {
  if (value.kind() != Value::Kind::String) return integer_bits(value);
  if (column.type == FieldType::Set) return set_of_labels(column, value.as_string());
  if (value.is_binary() && value.as_string().empty()) return 0;
  const auto at = std::find(column.labels.begin(), column.labels.end(), value.as_string());
  return at == column.labels.end() ? 0 : static_cast<uint64_t>(at - column.labels.begin()) + 1;
}

void append_field(std::string& out, const ColumnDef& column, const Value& value) {
  switch (column.type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return append_little_endian(out, integer_bits(value), number_size(column));
    case FieldType::Year:
      return append_little_endian(out, year_number(value), 1);
    case FieldType::Float:
      return append_little_endian(out, std::bit_cast<uint32_t>(static_cast<float>(value.as_double())), 4);
    case FieldType::Double:
      return append_little_endian(out, std::bit_cast<uint64_t>(value.as_double()), 8);
    case FieldType::Decimal:
    case FieldType::NewDecimal:
      return append_decimal_binary(out, value.as_decimal(), static_cast<uint8_t>(column.length),
                                   column.decimals);
    case FieldType::Date:
      return append_date(out, value.as_temporal());
    case FieldType::Time:
    case FieldType::Time2:
      return append_time2(out, value.as_temporal(), column.decimals);
    case FieldType::DateTime:
    case FieldType::DateTime2:
      return append_datetime2(out, value.as_temporal(), column.decimals);
    case FieldType::Timestamp:
    case FieldType::Timestamp2:
      return append_timestamp2(out, value.as_temporal(), column.decimals);
    case FieldType::Bit:
      return append_big_endian(out, integer_bits(value), number_size(column));
    case FieldType::Enum:
    case FieldType::Set:
      return append_little_endian(out, label_number(column, value), number_size(column));
    case FieldType::Json:
      return append_json(out, column, value.as_json());
    default:
      return append_text(out, column, value.as_string());
  }
}

std::optional<size_t> field_size(const ColumnDef& column, std::string_view bytes) {
  size_t size = 0;
  switch (column.type) {
    case FieldType::Float:
      size = 4;
      break;
    case FieldType::Decimal:
    case FieldType::NewDecimal:
      size = decimal_binary_size(static_cast<uint8_t>(column.length), column.decimals);
      break;
    case FieldType::Date:
      size = 3;
      break;
    case FieldType::Time:
    case FieldType::Time2:
      size = 3 + fraction_size(column.decimals);
      break;
    case FieldType::DateTime:
    case FieldType::DateTime2:
      size = 5 + fraction_size(column.decimals);
      break;
    case FieldType::Timestamp:
    case FieldType::Timestamp2:
      size = 4 + fraction_size(column.decimals);
      break;
    case FieldType::String:
    case FieldType::VarChar:
    case FieldType::VarString:
    case FieldType::TinyBlob:
    case FieldType::Blob:
    case FieldType::MediumBlob:
    case FieldType::LongBlob:
    case FieldType::Json: {
      const size_t prefix = length_bytes(column);
      if (bytes.size() < prefix) return std::nullopt;
      size = prefix + load_le(bytes.data(), prefix);
      // Here, so that nothing above ever meets a damaged document.
      if (column.type == FieldType::Json && size <= bytes.size() &&
          !json::is_valid(bytes.substr(prefix, size - prefix)))
        return std::nullopt;
      break;
    }
    default:
      size = number_size(column);
  }
  return size <= bytes.size() ? std::optional(size) : std::nullopt;
}

Value load_field(const ColumnDef& column, std::string_view field) {
  switch (column.type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return load_integer(column, field);
    case FieldType::Year: {
      const auto stored = static_cast<uint8_t>(field[0]);
      return Value::unsigned_integer(stored == 0 ? 0 : stored + 1900u);
    }
    case FieldType::Float:
      return load_float(field);
    case FieldType::Double:
      return load_double(field);
    case FieldType::Decimal:
    case FieldType::NewDecimal:
      return Value::decimal(
          load_decimal_binary(field.data(), static_cast<uint8_t>(column.length), column.decimals));
    case FieldType::Date:
      return Value::temporal(load_date(field.data()));
    case FieldType::Time:
    case FieldType::Time2:
      return Value::temporal(load_time2(field.data(), column.decimals));
    case FieldType::DateTime:
    case FieldType::DateTime2:
      return Value::temporal(load_datetime2(field.data(), column.decimals));
    case FieldType::Timestamp:
    case FieldType::Timestamp2:
      return Value::temporal(load_timestamp2(field.data(), column.decimals));
    case FieldType::Bit:
      return Value::unsigned_integer(load_be(field.data(), field.size()));
    case FieldType::Enum:
    case FieldType::Set:
      return load_label(column, load_le(field.data(), field.size()));
    case FieldType::Json:
      return Value::json(std::string(field.substr(length_bytes(column))));
    default:
      return load_text(column, field);
  }
}

}  // namespace commitd

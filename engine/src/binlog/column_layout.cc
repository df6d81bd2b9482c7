#include "binlog/column_layout.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "storage/record/column_format.h"

namespace commitd::binlog {
namespace {

size_t metadata_length(FieldType type) {
  switch (type) {
    case FieldType::VarChar:
    case FieldType::Bit:
    case FieldType::NewDecimal:
    case FieldType::String:
      return 2;
    case FieldType::Float:
    case FieldType::Double:
    case FieldType::Timestamp2:
    case FieldType::DateTime2:
    case FieldType::Time2:
    case FieldType::Blob:
    case FieldType::Json:
      return 1;
    default:
      return 0;
  }
}

uint8_t byte_at(std::string_view metadata, size_t at) {
  return at < metadata.size() ? static_cast<uint8_t>(metadata[at]) : 0;
}

// CHAR, ENUM and SET share a type of TABLE_MAP. Bits 8 and 9 of CHAR's length are XORed into the real type.
struct RealType {
  FieldType type;
  uint32_t bytes;
};
RealType real_type(std::string_view metadata) {
  constexpr uint8_t kLengthBits = 0x30;
  const uint8_t first = byte_at(metadata, 0), second = byte_at(metadata, 1);
  if (has_labels(static_cast<FieldType>(first))) return {static_cast<FieldType>(first), second};
  const uint32_t high = (first & kLengthBits) ^ kLengthBits;
  return {static_cast<FieldType>(first | kLengthBits), high << 4 | second};
}

bool has_long_length(uint32_t bytes) {
  return bytes > 255;
}

uint32_t var_char_bytes(std::string_view metadata) {
  return byte_at(metadata, 0) | static_cast<uint32_t>(byte_at(metadata, 1)) << 8;
}

uint32_t bits(std::string_view metadata) {
  return byte_at(metadata, 0) + 8u * byte_at(metadata, 1);
}

bool same_layout(FieldType type, std::string_view here, std::string_view there) {
  if (here == there) return true;
  switch (type) {
    case FieldType::VarChar:
      return has_long_length(var_char_bytes(here)) == has_long_length(var_char_bytes(there));
    case FieldType::Bit:
      return (bits(here) + 7) / 8 == (bits(there) + 7) / 8;
    case FieldType::String: {
      const RealType ours = real_type(here), theirs = real_type(there);
      return ours.type == FieldType::String && theirs.type == FieldType::String &&
             has_long_length(ours.bytes) == has_long_length(theirs.bytes);
    }
    default:
      return false;
  }
}

std::string_view name_of(FieldType type) {
  switch (type) {
    case FieldType::Tiny:
      return "tinyint";
    case FieldType::Short:
      return "smallint";
    case FieldType::Int24:
      return "mediumint";
    case FieldType::Long:
      return "int";
    case FieldType::LongLong:
      return "bigint";
    case FieldType::Float:
      return "float";
    case FieldType::Double:
      return "double";
    case FieldType::Date:
      return "date";
    case FieldType::Time:
    case FieldType::Time2:
      return "time";
    case FieldType::DateTime:
    case FieldType::DateTime2:
      return "datetime";
    case FieldType::Timestamp:
    case FieldType::Timestamp2:
      return "timestamp";
    case FieldType::Year:
      return "year";
    case FieldType::Json:
      return "json";
    case FieldType::Enum:
      return "enum";
    case FieldType::Set:
      return "set";
    default:
      return {};
  }
}

// As MySQL names it in 1677, where it has more to tell than the type.
std::string described(FieldType type, std::string_view metadata) {
  switch (type) {
    case FieldType::NewDecimal:
      return fmt::format("decimal({},{})", byte_at(metadata, 0), byte_at(metadata, 1));
    case FieldType::VarChar:
      return fmt::format("varchar({}(bytes))", var_char_bytes(metadata));
    case FieldType::Bit:
      return fmt::format("bit({})", bits(metadata));
    case FieldType::Blob:
      return fmt::format("blob of {} length bytes", byte_at(metadata, 0));
    case FieldType::Time2:
    case FieldType::DateTime2:
    case FieldType::Timestamp2:
      return fmt::format("{}({})", name_of(type), byte_at(metadata, 0));
    case FieldType::String: {
      const RealType real = real_type(metadata);
      if (has_labels(real.type)) return fmt::format("{} of {} bytes", name_of(real.type), real.bytes);
      return fmt::format("char({}(bytes))", real.bytes);
    }
    default:
      break;
  }
  const std::string_view name = name_of(type);
  return name.empty() ? fmt::format("<unknown type {}>", static_cast<int>(type)) : std::string(name);
}

}  // namespace

Status check_column_layout(const TableDef& table, const TableMapEvent& map) {
  ByteReader metadata(map.metadata);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const ColumnMetadata here = column_metadata(table.columns[i]);
    const auto type = static_cast<FieldType>(map.types[i]);
    const std::string_view there = metadata.bytes(metadata_length(type));
    if (type == here.type && metadata.ok() && same_layout(type, here.metadata, there)) continue;
    return make_error(er::kReplicaConversionFailed,
                      "Column {} of table '{}.{}' cannot be converted from type '{}' to type '{}'", i,
                      table.db, table.name, described(type, there), described(here.type, here.metadata));
  }
  return {};
}

}  // namespace commitd::binlog

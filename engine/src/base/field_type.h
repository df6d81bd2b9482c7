// MySQL's column types, and what the whole server needs to know of one without its column.
#pragma once

#include <cstdint>

namespace commitd {

// MySQL's column types as the protocol and the binlog number them.
enum class FieldType : uint8_t {
  Decimal = 0,
  Tiny = 1,
  Short = 2,
  Long = 3,
  Float = 4,
  Double = 5,
  Null = 6,
  Timestamp = 7,
  LongLong = 8,
  Int24 = 9,
  Date = 10,
  Time = 11,
  DateTime = 12,
  Year = 13,
  VarChar = 15,
  Bit = 16,
  Timestamp2 = 17,
  DateTime2 = 18,
  Time2 = 19,
  Json = 245,
  NewDecimal = 246,
  Enum = 247,
  Set = 248,
  TinyBlob = 249,
  MediumBlob = 250,
  LongBlob = 251,
  Blob = 252,
  VarString = 253,
  String = 254,
};

constexpr bool is_blob(FieldType type) {
  return type >= FieldType::TinyBlob && type <= FieldType::Blob;
}

// ENUM and SET: one or some of the labels that the column's definition lists.
constexpr bool has_labels(FieldType type) {
  return type == FieldType::Enum || type == FieldType::Set;
}

// Types that may have a character set.
constexpr bool has_characters(FieldType type) {
  return type == FieldType::VarChar || type == FieldType::String || is_blob(type) || has_labels(type);
}

// The characters the longest number of an integer type takes: its display width where none is given.
constexpr uint32_t integer_width(FieldType type, bool is_unsigned) {
  switch (type) {
    case FieldType::Tiny:
      return is_unsigned ? 3 : 4;
    case FieldType::Short:
      return is_unsigned ? 5 : 6;
    case FieldType::Int24:
      return is_unsigned ? 8 : 9;
    case FieldType::Long:
      return is_unsigned ? 10 : 11;
    case FieldType::Year:
      return 4;
    default:
      return 20;
  }
}

}  // namespace commitd

#include <algorithm>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

// The types results are announced with: the "2" forms exist only in storage and in the binlog.
FieldType announced(FieldType type) {
  switch (type) {
    case FieldType::Timestamp2:
      return FieldType::Timestamp;
    case FieldType::DateTime2:
      return FieldType::DateTime;
    case FieldType::Time2:
      return FieldType::Time;
    case FieldType::TinyBlob:
    case FieldType::MediumBlob:
    case FieldType::LongBlob:
      return FieldType::Blob;
    case FieldType::VarChar:
      return FieldType::VarString;
    case FieldType::Enum:
    case FieldType::Set:
      return FieldType::String;
    default:
      return type;
  }
}

uint32_t blob_length(FieldType type) {
  switch (type) {
    case FieldType::TinyBlob:
      return 255;
    case FieldType::Blob:
      return 65535;
    case FieldType::MediumBlob:
      return 16777215;
    default:
      return UINT32_MAX / 4;
  }
}

// The stronger side's collation; of two columns that differ, the binary one.
void take_collation(ValueType& common, const ValueType& other) {
  if (other.strength < common.strength) return;
  const Order order = collation_or_binary(other.collation).order;
  const bool binary = order == Order::Bytes || order == Order::CodePoint;
  if (other.strength > common.strength || binary) common.collation = other.collation;
  common.strength = other.strength;
}

}  // namespace

// Compared and shown as text it is utf8mb4_bin.
ValueType ValueType::json() {
  constexpr uint16_t kUtf8mb4Bin = 46;
  return {FieldType::Json, kUtf8mb4Bin, UINT32_MAX / 4, 31, false, true, Strength::Weak};
}

ValueType type_of_column(const ColumnDef& column) {
  ValueType type;
  type.type = announced(column.type);
  type.collation = column.collation;
  type.decimals = column.decimals;
  type.is_unsigned = column.is_unsigned || column.type == FieldType::Bit;
  type.nullable = column.nullable;
  type.strength = ValueType::Strength::Column;
  type.length = column.length;
  if (type.is_integer())
    type.length = column.length != 0 ? column.length : integer_width(column.type, column.is_unsigned);
  if (type.is_blob()) type.length = blob_length(column.type);
  if (column.type == FieldType::Json) {
    type = ValueType::json();
    type.decimals = 0;
    type.nullable = column.nullable;
    type.strength = ValueType::Strength::Column;
  }
  const bool real = column.type == FieldType::Float || column.type == FieldType::Double;
  if (real && !has_fixed_decimals(column)) {
    type.length = column.type == FieldType::Float ? 12 : 22;
    type.decimals = kNoFixedDecimals;
  }
  if (column.type == FieldType::Date) type.length = 10;
  if (column.type == FieldType::Time2) type.length = 10;
  if (column.type == FieldType::DateTime2 || column.type == FieldType::Timestamp2) type.length = 19;
  if (has_labels(column.type)) {
    uint32_t longest = 0, sum = 0;
    for (const std::string& label : column.labels) {
      const auto characters = static_cast<uint32_t>(character_count(label));
      longest = std::max(longest, characters);
      sum += characters + 1;
    }
    type.length = column.type == FieldType::Enum ? longest : sum;
  }
  return type;
}

ValueType type_of_value(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Null:
      return {FieldType::Null, 63, 0, 0, false, true, ValueType::Strength::Weak};
    case Value::Kind::Int:
    case Value::Kind::UInt:
      return {FieldType::LongLong,
              63,
              static_cast<uint32_t>(value.to_text().size()),
              0,
              value.kind() == Value::Kind::UInt,
              false,
              ValueType::Strength::Weak};
    case Value::Kind::Double: {
      ValueType type = ValueType::real();
      type.nullable = false;
      return type;
    }
    case Value::Kind::Decimal: {
      uint32_t digits = 0;  // a leading zero is none
      for (const char c : value.to_text()) digits += c >= '0' && c <= '9' ? 1 : 0;
      return {FieldType::NewDecimal,    63, digits, value.as_decimal().scale, false, false,
              ValueType::Strength::Weak};
    }
    case Value::Kind::String:
      return {FieldType::VarString,
              value.is_binary() ? kBinaryCollation : uint16_t{45},
              static_cast<uint32_t>(character_count(value.as_string())),
              31,
              false,
              false,
              ValueType::Strength::Weak};
    case Value::Kind::Json: {
      ValueType type = ValueType::json();
      type.nullable = false;
      return type;
    }
    case Value::Kind::Temporal:
      break;
  }
  const Temporal& t = value.as_temporal();
  if (t.kind == Temporal::Kind::Date)
    return {FieldType::Date, 63, 10, 0, false, false, ValueType::Strength::Weak};
  if (t.kind == Temporal::Kind::Time)
    return {FieldType::Time, 63, 10, t.decimals, false, false, ValueType::Strength::Weak};
  return {FieldType::DateTime, 63, 19, t.decimals, false, false, ValueType::Strength::Weak};
}

ValueType common_type(std::span<const ValueType> types) {
  std::optional<ValueType> common;
  bool nullable = false;
  for (const ValueType& type : types) {
    nullable |= type.nullable;
    if (type.type == FieldType::Null) {
      nullable = true;
      continue;
    }
    if (!common) {
      common = type;
      continue;
    }
    ValueType& c = *common;
    const uint32_t length = std::max(c.length, type.length);
    if (c.is_integer() && type.is_integer()) {
      // No integer type holds both signs beyond 63 bits.
      const bool beyond =
          c.is_unsigned != type.is_unsigned && (c.is_unsigned ? c : type).type == FieldType::LongLong;
      if (beyond) {
        c = ValueType::decimal(length, 0);
        continue;
      }
      c.type = FieldType::LongLong;
      c.is_unsigned = c.is_unsigned && type.is_unsigned;
    } else if ((c.is_integer() || c.type == FieldType::NewDecimal) &&
               (type.is_integer() || type.type == FieldType::NewDecimal)) {
      const uint8_t decimals = std::max(c.decimals, type.decimals);
      const uint32_t whole = std::max(c.length - c.decimals, type.length - type.decimals);
      c = ValueType::decimal(whole + decimals, decimals);
      continue;
    } else if (!c.is_string() && !type.is_string() && !c.is_temporal() && !type.is_temporal()) {
      const uint8_t decimals = std::max(c.decimals, type.decimals);
      c = ValueType::real();
      c.decimals = decimals;
    } else if (c.is_temporal() && type.is_temporal()) {
      if (c.type != type.type) c = ValueType::datetime(std::max(c.decimals, type.decimals));
      c.decimals = std::max(c.decimals, type.decimals);
    } else if (c.type != type.type || c.is_temporal() != type.is_temporal()) {
      const uint16_t collation = c.is_string()      ? c.collation
                                 : type.is_string() ? type.collation
                                                    : uint16_t{45};
      const auto strength = c.is_string() ? c.strength : type.strength;
      c = ValueType::text(length, collation);
      c.strength = strength;
    }
    c.length = length;
    if (c.is_string() && type.is_string()) take_collation(c, type);
  }
  if (!common) return {FieldType::Null, 63, 0, 0, false, true, ValueType::Strength::Weak};
  common->nullable = nullable;
  return *common;
}

}  // namespace commitd::sql

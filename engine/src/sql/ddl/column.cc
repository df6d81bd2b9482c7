// One column's definition: the type with its defaults filled in and its limits checked.
#include <set>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/planning.h"

namespace commitd::sql::ddl {
namespace {

constexpr uint32_t kMaxVarcharBytes = 65535;
constexpr uint32_t kMaxCharLength = 255;
constexpr uint32_t kMaxDecimalDigits = 38;
constexpr uint8_t kMaxDecimalScale = 30;
constexpr uint8_t kMaxFraction = 6;
constexpr uint32_t kMaxWidth = 255;
constexpr uint16_t kDuplicatedValueInType = 1291;

Error too_big(const ColumnDef& column, uint64_t max) {
  return make_error(er::kTooBigFieldlength,
                    "Column length too big for column '{}' (max = {}); use BLOB or TEXT instead", column.name,
                    max);
}

Error too_wide(const ColumnDef& column, uint32_t max) {
  return make_error(er::kTooBigDisplaywidth, "Display width out of range for column '{}' (max = {})",
                    column.name, max);
}

Status check_decimals(const ColumnDef& column) {
  if (column.decimals > kMaxDecimalScale) {
    return make_error(er::kTooBigScale, "Too big scale {} specified for column '{}'. Maximum is {}.",
                      column.decimals, column.name, kMaxDecimalScale);
  }
  if (column.decimals > column.length) {
    return make_error(er::kMBiggerThanD,
                      "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{}').",
                      column.name);
  }
  return {};
}

Status set_decimal(ColumnDef& column, const ast::ColumnType& type, const Context& context) {
  column.length = type.length.value_or(10);
  column.decimals = type.decimals.value_or(0);
  if (column.length == 0 && (column.decimals == 0 || context.executed_before)) column.length = 10;
  if (column.length > kMaxDecimalDigits) {
    return make_error(er::kTooBigPrecision, "Too-big precision {} specified for '{}'. Maximum is {}.",
                      column.length, column.name, kMaxDecimalDigits);
  }
  return check_decimals(column);
}

// FLOAT(p) says how precise it is: 25 to 53 bits are a DOUBLE. FLOAT(M,D) and DOUBLE(M,D) round.
Status set_real(ColumnDef& column, const ast::ColumnType& type) {
  constexpr uint32_t kMostBits = 53, kBitsOfFloat = 24;
  if (type.decimals) {
    column.length = *type.length;
    column.decimals = *type.decimals;
    if (column.length > kMaxWidth) return too_wide(column, kMaxWidth);
    return check_decimals(column);
  }
  if (type.length && column.type == FieldType::Double)
    return make_error(er::kParse, "Column '{}': DOUBLE takes a length and decimals, or neither", column.name);
  if (type.length.value_or(0) > kMostBits)
    return make_error(er::kWrongFieldSpec, "Incorrect column specifier for column '{}'", column.name);
  if (type.length.value_or(0) > kBitsOfFloat) column.type = FieldType::Double;
  column.length = column.type == FieldType::Float ? 12 : 22;
  column.decimals = kNoFixedDecimals;
  return {};
}

Status set_characters(ColumnDef& column, const ast::ColumnType& type) {
  uint32_t per_character = charset_info(collation_or_binary(column.collation).charset).max_bytes;
  if (column.type == FieldType::String) {
    column.length = type.length.value_or(1);
    if (column.length > kMaxCharLength) return too_big(column, kMaxCharLength);
  } else {
    if (!type.length)
      return make_error(er::kParse, "Column '{}': VARCHAR and VARBINARY need a length", column.name);
    column.length = *type.length;
    if (uint64_t{column.length} * per_character > kMaxVarcharBytes)
      return too_big(column, kMaxVarcharBytes / per_character);
  }
  return {};
}

// TEXT and BLOB; with a length, the smallest kind that holds it.
void set_blob(ColumnDef& column, const ast::ColumnType& type) {
  if (type.length && column.type == FieldType::Blob) {
    uint64_t bytes =
        uint64_t{*type.length} * charset_info(collation_or_binary(column.collation).charset).max_bytes;
    column.type = bytes < 256          ? FieldType::TinyBlob
                  : bytes < 65536      ? FieldType::Blob
                  : bytes < (1u << 24) ? FieldType::MediumBlob
                                       : FieldType::LongBlob;
  }
  switch (column.type) {
    case FieldType::TinyBlob:
      column.length = 255;
      break;
    case FieldType::Blob:
      column.length = 65535;
      break;
    case FieldType::MediumBlob:
      column.length = (1u << 24) - 1;
      break;
    default:
      column.length = UINT32_MAX;
      break;
  }
}

Status set_fraction(ColumnDef& column, const ast::ColumnType& type) {
  column.decimals = static_cast<uint8_t>(type.length.value_or(0));
  if (type.length.value_or(0) > kMaxFraction) {
    return make_error(er::kTooBigPrecision, "Too-big precision {} specified for '{}'. Maximum is {}.",
                      *type.length, column.name, kMaxFraction);
  }
  return {};
}

// Labels of characters have no blanks at their end. Twice the same one is a mistake (1291), as the column's
// collation has it.
Status set_labels(ColumnDef& column, const ast::ColumnType& type, Context& context) {
  const bool of_characters = column.collation != kBinaryCollation;
  for (std::string_view label : *type.labels)
    column.labels.emplace_back(of_characters ? label.substr(0, label.find_last_not_of(' ') + 1) : label);
  if (column.type == FieldType::Set && column.labels.size() > 64)
    return make_error(er::kTooBigSet, "Too many strings for column {} and SET", column.name);
  if (context.executed_before) return {};
  std::set<std::string> keys;
  for (const std::string& label : column.labels) {
    std::string key;
    append_equality_key(collation_or_binary(column.collation), label, key);
    if (keys.insert(std::move(key)).second) continue;
    Error twice = make_error(kDuplicatedValueInType, "Column '{}' has duplicated value '{}' in {}",
                             column.name, label, column.type == FieldType::Set ? "SET" : "ENUM");
    if (is_strict(context)) return twice;
    context.diagnostics.note(std::move(twice));
  }
  return {};
}

Status set_type(ColumnDef& column, const ast::ColumnType& type, Context& context) {
  switch (column.type) {
    case FieldType::NewDecimal:
      return set_decimal(column, type, context);
    case FieldType::VarChar:
    case FieldType::String:
      return set_characters(column, type);
    case FieldType::TinyBlob:
    case FieldType::Blob:
    case FieldType::MediumBlob:
    case FieldType::LongBlob:
      set_blob(column, type);
      return {};
    case FieldType::Time2:
    case FieldType::DateTime2:
    case FieldType::Timestamp2:
      return set_fraction(column, type);
    case FieldType::Bit:
      column.length = type.length.value_or(1);
      if (column.length == 0 || column.length > 64) return too_wide(column, 64);
      return {};
    case FieldType::Float:
    case FieldType::Double:
      return set_real(column, type);
    case FieldType::Enum:
    case FieldType::Set:
      return set_labels(column, type, context);
    case FieldType::Date:
      column.length = 10;
      return {};
    case FieldType::Year:
      column.length = 4;
      return {};
    case FieldType::Json:
      return {};
    default:
      column.length = type.length.value_or(integer_width(column.type, column.is_unsigned));
      if (column.length > kMaxWidth && !context.executed_before) return too_wide(column, kMaxWidth);
      return {};
  }
}

uint16_t binary_variant(uint16_t collation) {
  const auto& charset = charset_info(collation_or_binary(collation).charset);
  const Collation* binary = find_collation(std::string(charset.name) + "_bin");
  return binary ? binary->id : collation;
}

bool is_time(FieldType type) {
  return type == FieldType::DateTime2 || type == FieldType::Timestamp2;
}

}  // namespace

Result<ColumnDef> make_column(const ast::ColumnSpec& spec, uint16_t table_collation, Context& context) {
  COMMITD_RETURN_IF_ERROR(check_name(spec.name, Named::Column));
  ColumnDef column;
  column.name = spec.name;
  column.type = spec.type.type;
  column.is_unsigned = spec.type.is_unsigned;
  auto comment = comment_within(Commented::Column, spec.name, spec.comment, context);
  if (!comment.ok()) return std::move(comment).error();
  column.comment = *std::move(comment);
  if (has_characters(column.type)) {
    auto collation = resolve_collation(spec.type.charset, spec.type.collation, table_collation);
    if (!collation.ok()) return std::move(collation).error();
    column.collation = spec.type.binary_attribute ? binary_variant(*collation) : *collation;
  }
  COMMITD_RETURN_IF_ERROR(set_type(column, spec.type, context));
  column.nullable = spec.nullable.value_or(!spec.primary);
  column.auto_increment = spec.auto_increment;
  if (spec.auto_increment) column.nullable = false;

  column.default_current_timestamp = spec.default_current_timestamp;
  column.on_update_current_timestamp = spec.on_update_current_timestamp;
  if ((column.default_current_timestamp && !is_time(column.type)) ||
      (column.on_update_current_timestamp && !is_time(column.type))) {
    return make_error(er::kInvalidDefault, "Invalid default value for '{}'", column.name);
  }
  if (spec.default_value) {
    if (spec.auto_increment)
      return make_error(er::kInvalidDefault, "Invalid default value for '{}'", column.name);
    if (spec.default_value->kind == ast::ExprKind::Null) {
      if (!column.nullable)
        return make_error(er::kInvalidDefault, "Invalid default value for '{}'", column.name);
      column.default_value = Value::null();
    } else {
      if (is_blob(column.type) || column.type == FieldType::Json)
        return make_error(er::kBlobCantHaveDefault,
                          "BLOB, TEXT, GEOMETRY or JSON column '{}' can't have a default value", column.name);
      auto value = context.column_default(*spec.default_value, column);
      if (!value.ok()) return std::move(value).error();
      column.default_value = std::move(*value);
    }
  } else if (column.nullable && !column.default_current_timestamp) {
    column.default_value = Value::null();
  }
  return column;
}

}  // namespace commitd::sql::ddl

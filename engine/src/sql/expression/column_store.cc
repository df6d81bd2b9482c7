#include "sql/expression/column_store.h"

#include "base/charset/collation.h"
#include "base/json/binary.h"
#include "sql/expression/json_value.h"
#include "sql/expression/store/kinds.h"

namespace commitd::sql {

Result<Value> convert_for_column(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.is_null()) return value;
  // A document in a column of another type: its text in those of characters, else what its scalar is worth.
  if (value.kind() == Value::Kind::Json && column.type != FieldType::Json && !has_characters(column.type))
    return convert_for_column(column, scalar_of_json(value), context);
  switch (column.type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return store::store_integer(column, value, context);
    case FieldType::Float:
    case FieldType::Double:
      return store::store_real(column, value, context);
    case FieldType::NewDecimal:
      return store::store_decimal(column, value, context);
    case FieldType::Date:
    case FieldType::DateTime2:
    case FieldType::Timestamp2:
      return store::store_date_and_time(column, value, context);
    case FieldType::Time2:
      return store::store_time(column, value, context);
    case FieldType::Year:
      return store::store_year(column, value, context);
    case FieldType::Enum:
      return store::store_enum(column, value, context);
    case FieldType::Set:
      return store::store_set(column, value, context);
    case FieldType::Bit:
      return store::store_bits(column, value, context);
    case FieldType::Json:
      return store::store_json(column, value, context);
    default:
      return store::store_text(column, value, context);
  }
}

Value implicit_default(const ColumnDef& column) {
  switch (column.type) {
    case FieldType::Float:
    case FieldType::Double:
      return Value::real(0);
    case FieldType::NewDecimal:
      return Value::decimal({0, column.decimals});
    case FieldType::Enum:
      return Value::string(column.labels.empty() ? "" : column.labels[0]);
    case FieldType::Date:
    case FieldType::DateTime2:
    case FieldType::Timestamp2:
    case FieldType::Time2: {
      Temporal zero;
      zero.kind = column.type == FieldType::Date    ? Temporal::Kind::Date
                  : column.type == FieldType::Time2 ? Temporal::Kind::Time
                                                    : Temporal::Kind::DateTime;
      zero.decimals = column.decimals;
      return Value::temporal(zero);
    }
    case FieldType::Year:
    case FieldType::Bit:
      return Value::unsigned_integer(0);
    case FieldType::Json:
      return Value::json(*json::encode(json::Node()));
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return column.is_unsigned ? Value::unsigned_integer(0) : Value::integer(0);
    default: {
      std::string text;
      if (column.collation == kBinaryCollation && column.type == FieldType::String)
        text.resize(column.length, '\0');
      return Value::string(std::move(text), column.collation == kBinaryCollation);
    }
  }
}

}  // namespace commitd::sql

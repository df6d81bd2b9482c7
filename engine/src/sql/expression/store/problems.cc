#include "sql/expression/store/problems.h"

#include "base/error_codes.h"
#include "sql/expression/conversion.h"

namespace commitd::sql::store {

Result<Value> adjusted(StoreContext& context, Error error, Value value) {
  if (context.strict) return error;
  if (error.code == er::kDataTooLong)
    error.code = er::kDataTruncated;  // MySQL's number where it is a warning
  context.diagnostics.warn(std::move(error));
  return value;
}

Error out_of_range(const ColumnDef& column, const StoreContext& context) {
  return make_error(er::kWarnDataOutOfRange, "Out of range value for column '{}' at row {}", column.name,
                    context.row);
}
Error too_long(const ColumnDef& column, const StoreContext& context) {
  return make_error(er::kDataTooLong, "Data too long for column '{}' at row {}", column.name, context.row);
}
Error truncated(const ColumnDef& column, const StoreContext& context) {
  return make_error(er::kDataTruncated, "Data truncated for column '{}' at row {}", column.name, context.row);
}
Error incorrect(const char* what, const ColumnDef& column, const Value& value, const StoreContext& context) {
  return make_error(er::kTruncatedWrongValueForField, "Incorrect {} value: '{}' for column '{}' at row {}",
                    what, to_text(value), column.name, context.row);
}
Error incorrect_time(const char* what, const ColumnDef& column, const Value& value,
                     const StoreContext& context) {
  return make_error(er::kTruncatedWrongValue, "Incorrect {} value: '{}' for column '{}' at row {}", what,
                    to_text(value), column.name, context.row);
}

}  // namespace commitd::sql::store

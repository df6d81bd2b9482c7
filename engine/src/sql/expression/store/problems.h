// What a column says of a value that it cannot hold as it is.
#pragma once

#include "sql/expression/column_store.h"

namespace commitd::sql::store {

// An error in strict mode; else the adjusted value with a warning.
Result<Value> adjusted(StoreContext& context, Error error, Value value);

Error out_of_range(const ColumnDef& column, const StoreContext& context);
Error too_long(const ColumnDef& column, const StoreContext& context);
Error truncated(const ColumnDef& column, const StoreContext& context);
Error incorrect(const char* what, const ColumnDef& column, const Value& value, const StoreContext& context);
Error incorrect_time(const char* what, const ColumnDef& column, const Value& value,
                     const StoreContext& context);

}  // namespace commitd::sql::store

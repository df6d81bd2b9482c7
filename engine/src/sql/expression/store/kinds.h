// One function for each kind of column; the values are not NULL.
#pragma once

#include "sql/expression/column_store.h"

namespace commitd::sql::store {

Result<Value> store_integer(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_real(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_decimal(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_bits(const ColumnDef& column, const Value& value, StoreContext& context);

Result<Value> store_text(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_json(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_enum(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_set(const ColumnDef& column, const Value& value, StoreContext& context);

// '2024-00-10', '2024-05-00': dates that are not known in full.
std::optional<Temporal> with_zero_parts(std::string_view text);
Result<Value> store_date_and_time(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_time(const ColumnDef& column, const Value& value, StoreContext& context);
Result<Value> store_year(const ColumnDef& column, const Value& value, StoreContext& context);

}  // namespace commitd::sql::store

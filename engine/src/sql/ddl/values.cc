// Values in DDL: literals of DEFAULT clauses, and stored values that a changed column takes over.
#include "base/error_codes.h"
#include "sql/ddl/planning.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/column_store.h"
#include "sql/expression/literal.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql::ddl {

void set_value_rules(Context& context, uint64_t sql_mode, int32_t time_zone_offset) {
  context.sql_mode = sql_mode;
  context.column_default = [sql_mode, time_zone_offset](const ast::Expr& expression,
                                                        const ColumnDef& column) -> Result<Value> {
    Error invalid = make_error(er::kInvalidDefault, "Invalid default value for '{}'", column.name);
    auto literal = literal_value(expression);
    if (!literal) return invalid;
    if (is_byte_literal(expression) && is_numeric(column.type))
      literal = number_of_bytes(literal->as_string());
    Diagnostics ignored;
    StoreContext store{ignored, true, sql_mode, time_zone_offset};
    auto value = convert_for_column(column, *literal, store);
    if (!value.ok()) return invalid;
    return value;
  };
  context.convert = [&diagnostics = context.diagnostics, sql_mode, time_zone_offset](
                        const Value& value, const ColumnDef& column) -> Result<Value> {
    StoreContext store{diagnostics, true, sql_mode, time_zone_offset};
    return convert_for_column(column, value, store);
  };
}

bool is_strict(const Context& context) {
  return (context.sql_mode & (sql_mode::kStrictTransTables | sql_mode::kStrictAllTables)) != 0;
}

Result<Value> added_column_value(const ColumnDef& column) {
  if (column.default_current_timestamp) {
    // The log does not carry the moment of the statement, and replay must give the same rows.
    return make_error(er::kNotSupportedYet,
                      "This version of commitd doesn't yet support 'adding a column with DEFAULT "
                      "CURRENT_TIMESTAMP to a table that has rows': add it without, then set the default");
  }
  if (column.default_value) return *column.default_value;
  return column.nullable ? Value::null() : implicit_default(column);
}

}  // namespace commitd::sql::ddl

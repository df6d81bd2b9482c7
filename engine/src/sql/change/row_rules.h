// Rules every changed row obeys, whichever statement changes it.
#pragma once

#include <string>

#include "sql/executor/statement_context.h"
#include "sql/expression/column_store.h"

namespace commitd::sql {

inline StoreContext store_context(SessionState& session, bool ignore) {
  constexpr int64_t kSecond = 1'000'000;
  const int32_t offset = session.settings.time_zone_offset;
  return {session.diagnostics,
          session.settings.strict() && !ignore,
          session.settings.sql_mode,
          offset,
          1,
          {},
          session.statement_microseconds / kSecond + offset};
}

// What a column gets that no value was given for; error 1364 in strict mode where there is nothing.
Result<Value> default_for_column(const ColumnDef& column, SessionState& session, StoreContext& store);
// The time the statement started, as a value of this DATETIME or TIMESTAMP column.
Value current_timestamp_for(const ColumnDef& column, const SessionState& session);
// NULL in a NOT NULL column: error 1048, or (`lenient`) the implicit default with a warning.
Status apply_not_null(const ColumnDef& column, Value& value, bool lenient, Diagnostics& diagnostics);
// Error 1062, naming the values and the key.
Error duplicate_error(const TableDef& table, const IndexDef& index, std::span<const Value> row);
// Ordinal of a column that is assigned to; 1054.
Result<size_t> assigned_column(const TableDef& table, std::string_view name);
// 1290 and 1792: the server or the transaction takes no writes.
Status check_can_change(SessionState& session);

}  // namespace commitd::sql

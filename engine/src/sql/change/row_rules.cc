#include "sql/change/row_rules.h"

#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/executor/statements.h"
#include "sql/expression/store/problems.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {

Value current_timestamp_for(const ColumnDef& column, const SessionState& session) {
  constexpr int64_t kSecond = 1'000'000;
  const int64_t now = session.statement_microseconds;
  const int32_t offset = column.type == FieldType::Timestamp2 ? 0 : session.settings.time_zone_offset;
  uint32_t unit = 1;
  for (uint8_t i = column.decimals; i < 6; ++i) unit *= 10;
  auto microsecond = static_cast<uint32_t>(now % kSecond);
  microsecond -= microsecond % unit;
  return Value::temporal(datetime_from_unix(now / kSecond + offset, microsecond, column.decimals));
}

Result<Value> default_for_column(const ColumnDef& column, SessionState& session, StoreContext& store) {
  if (column.default_current_timestamp) return current_timestamp_for(column, session);
  const bool usable = column.default_value && (column.nullable || !column.default_value->is_null());
  const bool is_refused = usable && store.strict && (store.sql_mode & sql_mode::kNoZeroDate) != 0 &&
                          column.type != FieldType::Time2 &&
                          column.default_value->kind() == Value::Kind::Temporal &&
                          is_zero_date(column.default_value->as_temporal());
  if (is_refused) {  // sql_mode was another when the default was given
    const char* name = column.type == FieldType::Date ? "date" : "datetime";
    return store::incorrect_time(name, column, *column.default_value, store);
  }
  if (usable) return *column.default_value;
  if (column.nullable) return Value::null();
  if (column.type == FieldType::Enum || column.auto_increment) return implicit_default(column);
  Error error = make_error(er::kNoDefaultForField, "Field '{}' doesn't have a default value", column.name);
  if (store.strict) return error;
  store.diagnostics.warn(std::move(error));
  return implicit_default(column);
}

Status apply_not_null(const ColumnDef& column, Value& value, bool lenient, Diagnostics& diagnostics) {
  if (column.nullable || !value.is_null()) return {};
  Error error = make_error(er::kBadNull, "Column '{}' cannot be null", column.name);
  if (!lenient) return error;
  diagnostics.warn(std::move(error));
  value = implicit_default(column);
  return {};
}

Error duplicate_error(const TableDef& table, const IndexDef& index, std::span<const Value> row) {
  constexpr size_t kLongestShown = 64 * 4;
  std::string entry;
  for (const IndexColumn& part : index.columns) {
    if (!entry.empty()) entry.push_back('-');
    entry += row[part.column].to_text();
  }
  if (entry.size() > kLongestShown) entry.resize(kLongestShown);
  return make_error(er::kDupEntry, "Duplicate entry '{}' for key '{}.{}'", entry, table.name, index.name);
}

Result<size_t> assigned_column(const TableDef& table, std::string_view name) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (same_name(table.columns[i].name, name)) return i;
  }
  return make_error(er::kBadField, "Unknown column '{}' in 'field list'", name);
}

Status check_can_change(SessionState& session) {
  COMMITD_RETURN_IF_ERROR(check_may_write(session));
  begin_if_needed(session);
  if (!session.transaction_read_only) return {};
  return make_error(er::kCantExecuteInReadOnlyTransaction,
                    "Cannot execute statement in a READ ONLY transaction.");
}

}  // namespace commitd::sql

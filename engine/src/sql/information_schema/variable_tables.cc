// performance_schema: system variables, where their values come from, and what SET PERSIST keeps.
#include <algorithm>

#include "base/temporal.h"
#include "sql/information_schema/virtual_table.h"
#include "sql/variables/persisted_variables.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "performance_schema";

std::vector<Row> sorted_by_name(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a[0].as_string() < b[0].as_string(); });
  return rows;
}

std::vector<Row> variables_rows(SessionState& session, bool global) {
  std::vector<Row> rows;
  const auto& variables = *session.server.variables;
  for (size_t i = 0; i < variables.count(); ++i) {
    const auto& definition = variables.definition(i);
    if (global && definition.scope == VariableScope::Session) continue;
    Value value = global ? variables.global(i) : session.variables.read(i);
    rows.push_back({text_value(definition.name), text_value(variables.to_text(i, value))});
  }
  return sorted_by_name(std::move(rows));
}

std::string_view source_name(VariableOrigin::Source source) {
  using Source = VariableOrigin::Source;
  switch (source) {
    case Source::CommandLine:
      return "COMMAND_LINE";
    case Source::Persisted:
      return "PERSISTED";
    case Source::Dynamic:
      return "DYNAMIC";
    default:
      return "COMPILED";
  }
}

Value time_value(const SessionState& session, uint64_t microseconds) {
  constexpr uint64_t kSecond = 1'000'000;
  if (microseconds == 0) return Value::null();
  return Value::temporal(
      datetime_from_unix(static_cast<int64_t>(microseconds / kSecond) + session.settings.time_zone_offset,
                         static_cast<uint32_t>(microseconds % kSecond), 6));
}

std::vector<Row> info_rows(SessionState& session) {
  std::vector<Row> rows;
  const auto& variables = *session.server.variables;
  for (size_t i = 0; i < variables.count(); ++i) {
    const auto& definition = variables.definition(i);
    const bool ranged = definition.type == VariableType::Integer;
    const VariableOrigin origin = variables.origin(i);
    const bool persisted = origin.source == VariableOrigin::Source::Persisted;
    rows.push_back({text_value(definition.name), text_value(source_name(origin.source)),
                    text_value(persisted ? "mysqld-auto.cnf" : ""),
                    text_value(ranged ? std::to_string(definition.min) : "0"),
                    text_value(ranged ? std::to_string(definition.max) : "0"),
                    time_value(session, origin.microseconds),
                    origin.user.empty() ? Value::null() : text_value(origin.user),
                    origin.host.empty() ? Value::null() : text_value(origin.host)});
  }
  return sorted_by_name(std::move(rows));
}

std::vector<Row> persisted_rows(SessionState& session) {
  std::vector<Row> rows;
  for (const auto& [name, variable] : session.server.variables->persisted().all())
    rows.push_back({text_value(name), text_value(variable.value)});
  return rows;
}

ColumnDef precise_time(std::string name) {
  ColumnDef column = datetime(std::move(name));
  column.decimals = 6;
  return column;
}

}  // namespace

std::vector<VirtualTable> variable_tables() {
  const std::vector<ColumnDef> named_value = {text("VARIABLE_NAME"), text("VARIABLE_VALUE", 1024)};
  return {
      {virtual_definition(kSchema, "global_variables", named_value),
       [](SessionState& session) { return variables_rows(session, true); }},
      {virtual_definition(kSchema, "session_variables", named_value),
       [](SessionState& session) { return variables_rows(session, false); }},
      {virtual_definition(kSchema, "persisted_variables", named_value), persisted_rows},
      {virtual_definition(kSchema, "variables_info",
                          {text("VARIABLE_NAME"), text("VARIABLE_SOURCE", 12), text("VARIABLE_PATH", 1024),
                           text("MIN_VALUE"), text("MAX_VALUE"), precise_time("SET_TIME"),
                           text("SET_USER", 32), text("SET_HOST", 255)}),
       info_rows},
  };
}

}  // namespace commitd::sql

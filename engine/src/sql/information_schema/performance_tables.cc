// performance_schema: what tools read there, and commitd's own state.
#include "sql/information_schema/status_values.h"
#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "performance_schema";

std::vector<Row> status_rows(SessionState& session) {
  std::vector<Row> rows;
  for (const auto& [name, value] : status_values(session))
    rows.push_back({text_value(name), text_value(value)});
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
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a[0].as_string() < b[0].as_string(); });
  return rows;
}

// Columns as CONTROL.md lists them; the row itself comes from whoever implements the roles.
const std::vector<std::string>& instance_columns() {
  static const std::vector<std::string> names = {"server_uuid",
                                                 "server_id",
                                                 "version",
                                                 "role",
                                                 "epoch",
                                                 "quorum_version",
                                                 "last_log_epoch",
                                                 "gtid_executed",
                                                 "gtid_logged",
                                                 "wait_count",
                                                 "members",
                                                 "semisync_clients",
                                                 "acked_members",
                                                 "writes_blocked",
                                                 "ack_waiting",
                                                 "ack_waiting_seconds",
                                                 "source_uuid",
                                                 "source_host",
                                                 "source_port",
                                                 "receiver_state",
                                                 "receiver_error",
                                                 "seconds_since_heartbeat",
                                                 "unapplied_transactions"};
  return names;
}

std::vector<Row> instance_rows(SessionState& session) {
  if (!session.server.instance) return {};
  auto values = session.server.instance->instance_row();
  Row row;
  for (const auto& column : instance_columns()) {
    auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == column; });
    row.push_back(found == values.end() || !found->second ? Value::null() : text_value(*found->second));
  }
  return {std::move(row)};
}

TablePtr instance_definition() {
  std::vector<ColumnDef> columns;
  for (const auto& name : instance_columns()) {
    bool long_value = name.starts_with("gtid_") || name == "members" || name.ends_with("_members") ||
                      name == "semisync_clients" || name == "receiver_error";
    columns.push_back(long_value ? long_text(name) : text(name, 256));
  }
  return virtual_definition(kSchema, "commitd_instance", std::move(columns));
}

}  // namespace

std::vector<VirtualTable> performance_tables() {
  std::vector<ColumnDef> named_value = {text("VARIABLE_NAME"), text("VARIABLE_VALUE", 1024)};
  return {
      {virtual_definition(kSchema, "global_status", named_value), status_rows},
      {virtual_definition(kSchema, "session_status", named_value), status_rows},
      {virtual_definition(kSchema, "global_variables", named_value),
       [](SessionState& session) { return variables_rows(session, true); }},
      {virtual_definition(kSchema, "session_variables", named_value),
       [](SessionState& session) { return variables_rows(session, false); }},
      {instance_definition(), instance_rows},
  };
}

}  // namespace commitd::sql

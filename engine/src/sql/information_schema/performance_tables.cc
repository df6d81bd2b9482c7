// performance_schema: what tools read there, and commitd's own state.
#include "sql/information_schema/status_values.h"
#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "performance_schema";

std::vector<Row> status_rows(SessionState& session, StatusScope scope) {
  std::vector<Row> rows;
  for (const auto& [name, value] : status_values(session, scope))
    rows.push_back({text_value(name), text_value(value)});
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
                                                 "unapplied_transactions",
                                                 "log_epoch_before",
                                                 "gno_before",
                                                 "applier_state",
                                                 "applier_error",
                                                 "semisync_timeout",
                                                 "semisync_on_timeout",
                                                 "semisync_wait_point",
                                                 "source_lease",
                                                 "lease_held",
                                                 "handed_over",
                                                 "disk_bytes",
                                                 "disk_free_bytes",
                                                 "certificate_not_before",
                                                 "certificate_not_after",
                                                 "data_format",
                                                 "tls_digest",
                                                 "built_in_accounts"};
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
                      name == "semisync_clients" || name == "receiver_error" || name == "applier_error";
    columns.push_back(long_value ? long_text(name) : text(name, 256));
  }
  return virtual_definition(kSchema, "commitd_instance", std::move(columns));
}

}  // namespace

std::vector<VirtualTable> performance_tables() {
  std::vector<ColumnDef> named_value = {text("VARIABLE_NAME"), text("VARIABLE_VALUE", 1024)};
  return {
      {virtual_definition(kSchema, "global_status", named_value),
       [](SessionState& session) { return status_rows(session, StatusScope::Global); }},
      {virtual_definition(kSchema, "session_status", named_value),
       [](SessionState& session) { return status_rows(session, StatusScope::Session); }},
      {instance_definition(), instance_rows},
  };
}

}  // namespace commitd::sql

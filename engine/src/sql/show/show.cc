#include "sql/show/show.h"

#include "base/error_codes.h"
#include "sql/information_schema/status_values.h"

namespace commitd::sql {
namespace {

using ast::ShowWhat;
using namespace virtual_column;

// A SHOW that is an information_schema table under other headings: `pick` names its columns in order.
ShowResult from_virtual(std::string_view table, const std::vector<std::pair<std::string, std::string>>& pick,
                        SessionState& session) {
  const VirtualTable* source = find_virtual_table("information_schema", table);
  std::vector<ColumnDef> columns;
  std::vector<size_t> ordinals;
  for (const auto& [name, heading] : pick) {
    for (size_t i = 0; i < source->definition->columns.size(); ++i) {
      if (source->definition->columns[i].name != name) continue;
      ordinals.push_back(i);
      columns.push_back(source->definition->columns[i]);
      columns.back().name = heading;
    }
  }
  std::vector<Row> rows;
  for (const auto& row : source->rows(session)) {
    Row picked;
    for (size_t ordinal : ordinals) picked.push_back(row[ordinal]);
    rows.push_back(std::move(picked));
  }
  return shown(std::move(columns), std::move(rows));
}

Status require_replication_client(SessionState& session) {
  if (session.has_privilege(privilege::kSuper)) return {};
  return session.require(privilege::kReplicationClient, "SUPER, REPLICATION CLIENT");
}

ShowResult named_values(std::string_view table, SessionState& session) {
  auto result = shown({text("Variable_name"), text("Value", 1024)});
  result.rows = find_virtual_table("performance_schema", table)->rows(session);
  return result;
}

ShowResult conditions(SessionState& session, bool errors_only) {
  auto result = shown({text("Level", 7), number("Code"), text("Message", 512)});
  for (const auto& condition : session.diagnostics.conditions()) {
    using Level = Diagnostics::Level;
    if (errors_only && condition.level != Level::Error) continue;
    std::string_view level = condition.level == Level::Error     ? "Error"
                             : condition.level == Level::Warning ? "Warning"
                                                                 : "Note";
    result.rows.push_back({text_value(level), number_value(condition.code), text_value(condition.message)});
  }
  return result;
}

ShowResult processlist(SessionState& session, bool full) {
  auto result = from_virtual("processlist",
                             {{"ID", "Id"},
                              {"USER", "User"},
                              {"HOST", "Host"},
                              {"DB", "db"},
                              {"COMMAND", "Command"},
                              {"TIME", "Time"},
                              {"STATE", "State"},
                              {"INFO", "Info"}},
                             session);
  constexpr size_t kShort = 100;
  for (auto& row : result.rows) {
    if (!full && !row[7].is_null() && row[7].as_string().size() > kShort)
      row[7] = text_value(row[7].as_string().substr(0, kShort));
  }
  return result;
}

ShowResult nothing(std::vector<std::string> columns) {
  std::vector<ColumnDef> definitions;
  for (auto& name : columns) definitions.push_back(text(std::move(name)));
  return shown(std::move(definitions));
}

}  // namespace

Result<ShowResult> show(const ast::ShowStatement& statement, SessionState& session) {
  switch (statement.what) {
    case ShowWhat::Databases:
      return show_databases(statement, session);
    case ShowWhat::Tables:
      return show_tables(statement, session);
    case ShowWhat::Columns:
      return show_columns(statement, session);
    case ShowWhat::Indexes:
      return show_indexes(statement, session);
    case ShowWhat::CreateTable:
      return show_create_table_statement(statement, session);
    case ShowWhat::CreateDatabase:
      return show_create_database(statement, session);
    case ShowWhat::TableStatus:
      return show_table_status(statement, session);
    case ShowWhat::Variables:
      return named_values(
          statement.scope == ast::VariableScope::Global ? "global_variables" : "session_variables", session);
    case ShowWhat::Status:
      return named_values(statement.scope == ast::VariableScope::Global ? "global_status" : "session_status",
                          session);
    case ShowWhat::Engines:
      return from_virtual("engines",
                          {{"ENGINE", "Engine"},
                           {"SUPPORT", "Support"},
                           {"COMMENT", "Comment"},
                           {"TRANSACTIONS", "Transactions"},
                           {"XA", "XA"},
                           {"SAVEPOINTS", "Savepoints"}},
                          session);
    case ShowWhat::EngineStatus:
      return show_engine_status(statement, session);
    case ShowWhat::Warnings:
      return conditions(session, false);
    case ShowWhat::Errors:
      return conditions(session, true);
    case ShowWhat::CountWarnings:
      return shown({number("@@session.warning_count")}, {{number_value(session.diagnostics.count())}});
    case ShowWhat::Processlist:
      return processlist(session, statement.full);
    case ShowWhat::Grants:
      return show_grants(statement, session);
    case ShowWhat::CharacterSets:
      return from_virtual("character_sets",
                          {{"CHARACTER_SET_NAME", "Charset"},
                           {"DESCRIPTION", "Description"},
                           {"DEFAULT_COLLATE_NAME", "Default collation"},
                           {"MAXLEN", "Maxlen"}},
                          session);
    case ShowWhat::Collations:
      return from_virtual("collations",
                          {{"COLLATION_NAME", "Collation"},
                           {"CHARACTER_SET_NAME", "Charset"},
                           {"ID", "Id"},
                           {"IS_DEFAULT", "Default"},
                           {"IS_COMPILED", "Compiled"},
                           {"SORTLEN", "Sortlen"},
                           {"PAD_ATTRIBUTE", "Pad_attribute"}},
                          session);
    case ShowWhat::Plugins:
      return from_virtual("plugins",
                          {{"PLUGIN_NAME", "Name"},
                           {"PLUGIN_STATUS", "Status"},
                           {"PLUGIN_TYPE", "Type"},
                           {"PLUGIN_LIBRARY", "Library"},
                           {"PLUGIN_LICENSE", "License"}},
                          session);
    case ShowWhat::BinaryLogs:
      COMMITD_RETURN_IF_ERROR(require_replication_client(session));
      return show_binary_logs(session);
    case ShowWhat::BinaryLogStatus:
      COMMITD_RETURN_IF_ERROR(require_replication_client(session));
      return show_binary_log_status(session);
    case ShowWhat::BinlogEvents:
      COMMITD_RETURN_IF_ERROR(session.require(privilege::kReplicationSlave, "REPLICATION SLAVE"));
      return show_log_events(statement, binlog::LogKind::Binary, session);
    case ShowWhat::RelaylogEvents:
      COMMITD_RETURN_IF_ERROR(session.require(privilege::kReplicationSlave, "REPLICATION SLAVE"));
      return show_log_events(statement, binlog::LogKind::Relay, session);
    case ShowWhat::ReplicaStatus:
      COMMITD_RETURN_IF_ERROR(require_replication_client(session));
      return show_replica_status(session);
    case ShowWhat::Replicas:
      COMMITD_RETURN_IF_ERROR(session.require(privilege::kReplicationSlave, "REPLICATION SLAVE"));
      return show_replicas(session);
    case ShowWhat::Privileges:
      return nothing({"Privilege", "Context", "Comment"});
    case ShowWhat::Triggers:
      return nothing({"Trigger", "Event", "Table", "Statement", "Timing", "Created", "sql_mode", "Definer",
                      "character_set_client", "collation_connection", "Database Collation"});
    case ShowWhat::OpenTables:
      return nothing({"Database", "Table", "In_use", "Name_locked"});
    case ShowWhat::ProcedureStatus:
    case ShowWhat::FunctionStatus:
      return nothing({"Db", "Name", "Type", "Definer", "Modified", "Created", "Security_type", "Comment",
                      "character_set_client", "collation_connection", "Database Collation"});
    case ShowWhat::Events:
      return nothing({"Db", "Name", "Definer", "Time zone", "Type", "Execute at", "Interval value",
                      "Interval field", "Starts", "Ends", "Status", "Originator", "character_set_client",
                      "collation_connection", "Database Collation"});
  }
  return make_error(er::kNotSupportedYet, "This version of commitd doesn't yet support this SHOW");
}

}  // namespace commitd::sql

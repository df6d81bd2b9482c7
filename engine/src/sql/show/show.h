// SHOW: each command as a small table that is made when asked for. LIKE and WHERE are then applied to it as
// to any other table.
#pragma once

#include <vector>

#include "base/result.h"
#include "log/log_kind.h"
#include "sql/ast/administration.h"
#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {

struct ShowResult {
  TablePtr definition;
  std::vector<Row> rows;
  size_t like_column = 0;  // what LIKE 'pattern' looks at
};

Result<ShowResult> show(const ast::ShowStatement& statement, SessionState& session);

// The parts of show(), by file.
Result<ShowResult> show_databases(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_tables(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_table_status(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_columns(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_indexes(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_create_table_statement(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_create_database(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_grants(const ast::ShowStatement& statement, SessionState& session);
Result<ShowResult> show_binary_logs(SessionState& session);
Result<ShowResult> show_binary_log_status(SessionState& session);
Result<ShowResult> show_log_events(const ast::ShowStatement& statement, binlog::LogKind kind,
                                   SessionState& session);
Result<ShowResult> show_replica_status(SessionState& session);
Result<ShowResult> show_replicas(SessionState& session);
Result<ShowResult> show_engine_status(const ast::ShowStatement& statement, SessionState& session);

// The table a SHOW names, virtual ones included; errors 1046, 1146.
Result<TablePtr> shown_table(const ast::TableName& name, SessionState& session);

inline ShowResult shown(std::vector<ColumnDef> columns, std::vector<Row> rows = {}) {
  return {virtual_definition("", "", std::move(columns)), std::move(rows), 0};
}

}  // namespace commitd::sql

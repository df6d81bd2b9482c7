// Statements that were logged as text, executed again: on replicas and at recovery.
#include "base/error_codes.h"
#include "sql/accounts/account_statements.h"
#include "sql/ast/statement.h"
#include "sql/catalog.h"
#include "sql/ddl/ddl.h"
#include "sql/parser/parser.h"
#include "sql/server_context.h"
#include "sql/session_state.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {
namespace {

// Earlier versions of commitd took REAL for DOUBLE in every sql_mode. Since then their text has what was made
// (logged_text), so a REAL of commitd's is theirs.
uint64_t mode_of_text(const binlog::QueryEvent& event) {
  return event.by_commitd ? event.sql_mode & ~sql_mode::kRealAsFloat : event.sql_mode;
}

Result<std::function<void()>> apply_ddl(ServerContext& server, const binlog::QueryEvent& event,
                                        const LoggedStatement& logged, WriteSet& writes) {
  Diagnostics diagnostics;
  ddl::Context context{.catalog = *server.catalog,
                       .engine = *server.engine,
                       .default_db = event.db,
                       .diagnostics = diagnostics,
                       .executed_before = true};
  context.logged_by_commitd = event.by_commitd;
  ddl::set_value_rules(context, logged.sql_mode, parse_time_zone(event.time_zone).value_or(0));
  auto effect = ddl::plan(*logged.statement, context);
  if (!effect.ok()) return std::move(effect).error();
  writes = std::move(effect->writes);
  return std::move(effect->publish);
}

Result<std::function<void()>> apply_account_statement(ServerContext& server, const binlog::QueryEvent& event,
                                                      const ast::Statement& statement, WriteSet& writes) {
  Diagnostics diagnostics;
  auto effect = plan_account_statement(statement, *server.accounts, nullptr, event.db, diagnostics);
  if (!effect.ok()) return std::move(effect).error();
  writes = std::move(effect->writes);
  return std::move(effect->publish);
}

}  // namespace

Result<std::function<void()>> apply_logged_statement(ServerContext& server, const binlog::QueryEvent& event,
                                                     WriteSet& writes) {
  Arena arena;
  auto logged = parse_logged_statement(event.sql, mode_of_text(event), arena);
  if (!logged.ok()) return std::move(logged).error();
  const ast::Statement& statement = *logged->statement;
  if (ddl::is_ddl(statement.kind)) return apply_ddl(server, event, *logged, writes);
  if (is_account_statement(statement.kind)) return apply_account_statement(server, event, statement, writes);
  return make_error(er::kNotSupportedYet, "The log has a statement that commitd cannot replay: {}",
                    event.sql);
}

}  // namespace commitd::sql

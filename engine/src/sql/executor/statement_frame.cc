#include "sql/executor/statement_frame.h"

#include <chrono>
#include <cmath>

#include "observe/metrics.h"
#include "plugins/observers.h"
#include "sql/ast/administration.h"
#include "sql/ast/changes.h"
#include "sql/ddl/ddl.h"
#include "sql/executor/statement_runner.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;

observe::Counter& command_counter(const ast::Statement& statement) {
  auto make = [](const char* command) -> observe::Counter& {
    return observe::counter("commitd_commands_total", "Statements executed, by kind.",
                            {{"command", command}});
  };
  static observe::Counter &select = make("select"), &insert = make("insert"), &update = make("update"),
                          &erase = make("delete"), &replace = make("replace"), &begin = make("begin"),
                          &commit = make("commit"), &rollback = make("rollback"), &ddl = make("ddl"),
                          &set = make("set"), &show = make("show"), &other = make("other");
  switch (statement.kind) {
    case StatementKind::Select:
      return select;
    case StatementKind::Insert:
      return ast::as<ast::InsertStatement>(statement).mode == ast::InsertMode::Replace ? replace : insert;
    case StatementKind::Update:
      return update;
    case StatementKind::Delete:
      return erase;
    case StatementKind::Begin:
      return begin;
    case StatementKind::Commit:
      return commit;
    case StatementKind::Rollback:
      return rollback;
    case StatementKind::Set:
    case StatementKind::SetTransaction:
      return set;
    case StatementKind::Show:
    case StatementKind::Describe:
      return show;
    default:
      return ddl::is_ddl(statement.kind) ? ddl : other;
  }
}

bool keeps_warnings(const ast::Statement& statement) {
  if (statement.kind != StatementKind::Show) return false;
  const auto what = ast::as<ast::ShowStatement>(statement).what;
  return what == ast::ShowWhat::Warnings || what == ast::ShowWhat::Errors ||
         what == ast::ShowWhat::CountWarnings;
}

}  // namespace

void note_statement(SessionState& session, const ast::Statement& statement) {
  if (!keeps_warnings(statement)) session.diagnostics.clear();
  session.kill_query.store(false, std::memory_order_relaxed);
  session.lock_owner.clear_kill();  // COMMIT may wait, too
  session.previous_found_rows = session.found_rows;
  session.statement_text = statement.text;
  session.lock_owner.set_statement(statement.text);
  const double fixed = session.variables.get(kTimestamp).as_double();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  session.statement_microseconds = fixed != 0
                                       ? std::llround(fixed * 1e6)
                                       : std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

void start_statement(SessionState& session, const ast::Statement& statement) {
  note_statement(session, statement);
  // The first time. The data may have come into being since the session started (ALTER INSTANCE INITIALIZE).
  if (!session.transaction && session.server.transactions != nullptr)
    session.transaction.emplace(*session.server.transactions, session.lock_owner);
}

void count_statement(SessionState& session, const ast::Statement& statement) {
  command_counter(statement).add();
  session.status.add(command_of(statement));
}

void tell_of_statement(const SessionState& session, const ast::Statement& statement, bool has_committed) {
  constexpr int kBesideDefinition = 2;
  const int calls = ddl::is_ddl(statement.kind) ? kBesideDefinition : has_committed ? 0 : 1;
  for (int i = 0; i < calls; ++i) session.server.observers->after_statement(session.connection_id);
}

uint16_t server_status(const SessionState& session) {
  constexpr uint16_t kInTransaction = 1, kAutocommit_ = 2, kNoBackslashEscapes = 0x200;
  uint16_t status = 0;
  if (session.settings.autocommit) status |= kAutocommit_;
  const bool open = session.transaction && session.transaction->active();
  if (session.in_explicit_transaction || (open && !session.settings.autocommit)) status |= kInTransaction;
  if (session.settings.sql_mode & sql_mode::kNoBackslashEscapes) status |= kNoBackslashEscapes;
  return status;
}

void end_statement(SessionState& session, const ast::Statement& statement, Answer& answer, ResultSink& sink,
                   bool more_results) {
  constexpr uint16_t kMoreResults = 8;
  OkInfo& ok = answer.ok;
  ok.warnings = keeps_warnings(statement) ? uint16_t{0} : session.diagnostics.count();
  ok.server_status = static_cast<uint16_t>(server_status(session) | (more_results ? kMoreResults : 0));
  session.row_count = answer.rows ? -1 : static_cast<int64_t>(ok.affected_rows);
  if (answer.rows)
    sink.end_rows(ok);
  else
    sink.ok(ok);
}

}  // namespace commitd::sql

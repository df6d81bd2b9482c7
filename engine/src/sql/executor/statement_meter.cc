#include "sql/executor/statement_meter.h"

#include "sql/accounts/account_statements.h"
#include "sql/ast/definitions.h"
#include "sql/slow_log.h"

namespace commitd::sql {
namespace {

using std::chrono::microseconds;

// Statements of administration are logged only where log_slow_admin_statements says so; the definition of
// MySQL's manual.
bool is_administrative(const ast::Statement& statement) {
  using ast::StatementKind;
  switch (statement.kind) {
    case StatementKind::AlterTable:
    case StatementKind::CreateIndex:
    case StatementKind::DropIndex:
    case StatementKind::TableMaintenance:
      return true;
    default:
      return false;
  }
}

// Such texts belong in no log.
bool may_have_password(const ast::Statement& statement) {
  return is_account_statement(statement.kind) || statement.kind == ast::StatementKind::ChangeSource ||
         statement.kind == ast::StatementKind::ControlInstance ||
         statement.kind == ast::StatementKind::CreateServer ||
         statement.kind == ast::StatementKind::AlterServer || statement.kind == ast::StatementKind::Prepare ||
         (statement.kind == ast::StatementKind::CreateTable &&
          ast::as<ast::CreateTableStatement>(statement).options.connection.has_value());
}

}  // namespace

StatementMeter::StatementMeter(SessionState& session, const ast::Statement& statement, const ResultSink& sink)
    : session_(session),
      statement_(statement),
      sink_(sink),
      began_(std::chrono::steady_clock::now()),
      before_(counts()) {}

StatementMeter::Counts StatementMeter::counts() const {
  return {session_.rows_examined, session_.table_scans, session_.lock_owner.waited(), sink_.rows_sent()};
}

bool StatementMeter::is_logged(microseconds duration, const Counts& spent) const {
  const SystemVariables& variables = *session_.server.variables;
  const bool slow = duration > session_.settings.long_query_time;
  const bool scan = spent.table_scans > 0 && variables.global("log_queries_not_using_indexes").as_int() != 0;
  if ((!slow && !scan) || may_have_password(statement_)) return false;
  if (spent.rows_examined < session_.variables.number(kMinExaminedRowLimit)) return false;
  return !is_administrative(statement_) || variables.global("log_slow_admin_statements").as_int() != 0;
}

void StatementMeter::write(SlowLog& log, microseconds duration, const Counts& spent) const {
  SlowStatement entry;
  entry.text = session_.statement_text;
  entry.database = session_.database;
  entry.user = session_.account.user;
  entry.host = session_.client_host;
  entry.connection_id = session_.connection_id;
  entry.end = std::chrono::system_clock::now();
  entry.start_second = session_.statement_microseconds / 1'000'000;
  entry.duration = duration;
  entry.lock_time = spent.lock_time;
  entry.rows_sent = spent.rows_sent;
  entry.rows_examined = spent.rows_examined;
  log.write(entry);
}

StatementMeter::~StatementMeter() {
  // What EXECUTE executes is measured itself.
  if (withdrawn_ || statement_.kind == ast::StatementKind::Execute) return;
  const auto duration = std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - began_);
  if (duration > session_.settings.long_query_time) session_.status.add(StatusVariable::SlowQueries);
  SlowLog* log = session_.server.slow_log;
  if (log == nullptr || !log->is_on()) return;
  const Counts now = counts();
  const Counts spent{now.rows_examined - before_.rows_examined, now.table_scans - before_.table_scans,
                     now.lock_time - before_.lock_time, now.rows_sent - before_.rows_sent};
  if (is_logged(duration, spent)) write(*log, duration, spent);
}

}  // namespace commitd::sql

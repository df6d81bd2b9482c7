#include "sql/executor/statement_runner.h"

#include "base/error_codes.h"
#include "sql/accounts/account_statements.h"
#include "sql/administration/next_gtid.h"
#include "sql/administration/set.h"
#include "sql/administration/show_statement.h"
#include "sql/administration/table_maintenance.h"
#include "sql/ast/administration.h"
#include "sql/ast/changes.h"
#include "sql/ast/definitions.h"
#include "sql/change/dml.h"
#include "sql/ddl/ddl.h"
#include "sql/executor/statement_frame.h"
#include "sql/executor/statement_meter.h"
#include "sql/expression/conversion.h"
#include "sql/information_schema/virtual_table.h"
#include "sql/query/explain.h"
#include "sql/query/precompute.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;

Task<Result<Answer>> rows_answer(Task<Status> task) {
  auto status = co_await task;
  if (!status.ok()) co_return std::move(status).error();
  co_return Answer{true, {}};
}
Task<Result<Answer>> ok_answer(Task<Status> task) {
  auto status = co_await task;
  if (!status.ok()) co_return std::move(status).error();
  co_return Answer{};
}
Task<Result<Answer>> info_answer(Task<Result<OkInfo>> task) {
  auto info = co_await task;
  if (!info.ok()) co_return std::move(info).error();
  co_return Answer{false, *std::move(info)};
}
Task<Result<Answer>> at_once(Status status) {
  if (!status.ok()) co_return std::move(status).error();
  co_return Answer{};
}
Task<Result<Answer>> at_once(Result<OkInfo> info) {
  if (!info.ok()) co_return std::move(info).error();
  co_return Answer{false, *std::move(info)};
}

Task<Status> execute_do(StatementContext& context, const ast::DoStatement& statement) {
  const Scope nothing;
  Evaluation evaluation(context.session);
  for (const ast::Expr* tree : statement.expressions) {
    COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, tree, true));
    Binder binder = context.binder(nothing);
    auto bound = binder.bind(*tree, "field list");
    if (!bound.ok()) co_return std::move(bound).error();
    Value scratch;
    (*bound)->evaluate(evaluation, scratch);
  }
  co_return evaluation.status();
}

Task<Result<OkInfo>> execute_kill_statement(StatementContext& context, const ast::KillStatement& statement) {
  const Scope nothing;
  Binder binder = context.binder(nothing);
  auto bound = binder.bind(*statement.id, "field list");
  if (!bound.ok()) co_return std::move(bound).error();
  Evaluation evaluation(context.session);
  Value scratch;
  const uint64_t id = to_bits((*bound)->evaluate(evaluation, scratch));
  co_return execute_kill(context.session, id, statement.query_only);
}

Task<Result<Answer>> dispatch_session(StatementContext& context, const ast::Statement& statement) {
  SessionState& session = context.session;
  switch (statement.kind) {
    case StatementKind::Begin:
      return ok_answer(begin_transaction(session, ast::as<ast::BeginStatement>(statement)));
    case StatementKind::Commit:
      return ok_answer(commit_transaction(session));
    case StatementKind::Rollback:
      warn_of_what_stays(session);
      rollback_transaction(session);
      return at_once(Status());
    case StatementKind::Savepoint:
    case StatementKind::RollbackToSavepoint:
    case StatementKind::ReleaseSavepoint:
      return at_once(savepoint_statement(session, ast::as<ast::NameStatement>(statement)));
    case StatementKind::Set:
      return ok_answer(execute_set(context, ast::as<ast::SetStatement>(statement)));
    case StatementKind::ResetPersist:
      return at_once(reset_persist(session, ast::as<ast::ResetPersistStatement>(statement)));
    case StatementKind::SetTransaction:
      return at_once(set_transaction(session, ast::as<ast::SetTransactionStatement>(statement)));
    case StatementKind::Use:
      return at_once(use_database(session, ast::as<ast::DatabaseStatement>(statement).name));
    case StatementKind::Do:
      return ok_answer(execute_do(context, ast::as<ast::DoStatement>(statement)));
    case StatementKind::LockTables:
      return ok_answer(lock_tables(session, ast::as<ast::LockTablesStatement>(statement)));
    case StatementKind::UnlockTables:
      return ok_answer(unlock_tables(session));
    default:
      return at_once(Status(make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support '{}'",
                                       statement.text.substr(0, 64))));
  }
}

Task<Result<Answer>> dispatch_administration(StatementContext& context, const ast::Statement& statement) {
  SessionState& session = context.session;
  switch (statement.kind) {
    case StatementKind::Flush:
      return info_answer(execute_flush(session, ast::as<ast::FlushStatement>(statement)));
    case StatementKind::ResetLogs:
      return info_answer(execute_reset_logs(session));
    case StatementKind::PurgeLogs:
      return info_answer(execute_purge(context, ast::as<ast::PurgeLogsStatement>(statement)));
    case StatementKind::Kill:
      return info_answer(execute_kill_statement(context, ast::as<ast::KillStatement>(statement)));
    case StatementKind::Shutdown:
      return at_once(execute_shutdown(session));
    case StatementKind::ControlInstance:
      return info_answer(execute_control(session, ast::as<ast::ControlInstanceStatement>(statement)));
    case StatementKind::ChangeSource:
      return info_answer(execute_change_source(session, ast::as<ast::ChangeSourceStatement>(statement)));
    case StatementKind::ReplicaThread:
      return info_answer(execute_replica_thread(session, ast::as<ast::ReplicaThreadStatement>(statement)));
    case StatementKind::ResetReplica:
      return info_answer(execute_reset_replica(session, ast::as<ast::ResetReplicaStatement>(statement)));
    case StatementKind::ChangeFilter:
      return info_answer(execute_change_filter(session, ast::as<ast::ChangeFilterStatement>(statement)));
    case StatementKind::Plugin:
      return info_answer(execute_plugin(session, ast::as<ast::PluginStatement>(statement)));
    default:
      return dispatch_session(context, statement);
  }
}

Task<Result<Answer>> dispatch(StatementContext& context, const ast::Statement& statement, ResultSink& sink) {
  switch (statement.kind) {
    case StatementKind::Select:
      context.answer = &ast::as<ast::SelectStatement>(statement);
      context.turn.end_after(
          hinted_execution_time(statement.text, context.session.variables.number(kMaxExecutionTime)));
      return rows_answer(run_select(context, *context.answer, sink));
    case StatementKind::Insert:
      return info_answer(execute_insert(context, ast::as<ast::InsertStatement>(statement)));
    case StatementKind::Update:
      return info_answer(execute_update(context, ast::as<ast::UpdateStatement>(statement)));
    case StatementKind::Delete:
      return info_answer(execute_delete(context, ast::as<ast::DeleteStatement>(statement)));
    case StatementKind::LoadData:
      return info_answer(execute_load_data(context, ast::as<ast::LoadDataStatement>(statement), sink));
    case StatementKind::Backup:
      return rows_answer(execute_backup(context, ast::as<ast::BackupStatement>(statement), sink));
    case StatementKind::Show:
      return rows_answer(execute_show(context, ast::as<ast::ShowStatement>(statement), sink));
    case StatementKind::Explain:
      return rows_answer(execute_explain(context, ast::as<ast::ExplainStatement>(statement), sink));
    case StatementKind::TableMaintenance:
      return rows_answer(
          execute_table_maintenance(context, ast::as<ast::MaintenanceStatement>(statement), sink));
    case StatementKind::Comment:
      return at_once(Status());
    case StatementKind::Binlog:
      return info_answer(execute_binlog(context, ast::as<ast::BinlogStatement>(statement)));
    case StatementKind::Empty:
      return at_once(Status(Error{er::kEmptyQuery, "Query was empty"}));
    default:
      break;
  }
  if (ddl::is_ddl(statement.kind)) return info_answer(execute_ddl(context.session, statement));
  if (is_account_statement(statement.kind))
    return info_answer(execute_account_statement(context.session, statement));
  return dispatch_administration(context, statement);
}

Task<Result<Answer>> dispatch_under_gtid(StatementContext& context, const ast::Statement& statement,
                                         ResultSink& sink) {
  auto verdict = judge_by_next_gtid(context.session, statement);
  if (!verdict.ok()) return at_once(Status(std::move(verdict).error()));
  if (*verdict == GtidVerdict::Skip) return at_once(Status());
  return dispatch(context, statement, sink);
}

// What the statement did to tables that are not transactional stays, whatever becomes of it.
Task<Status> commit_beside(StatementContext& context) {
  if (context.beside == nullptr) co_return Status();
  co_return co_await context.beside->commit();
}

// A failed statement is undone; after a deadlock its whole transaction is.
Task<void> undo(SessionState& session, StatementContext& context, const Error& error) {
  if (!context.entered || !session.transaction->active()) co_return;
  session.transaction->rollback_statement();
  if (auto kept = co_await commit_beside(context); !kept.ok()) session.diagnostics.warn(kept.error());
  const bool own_transaction = session.settings.autocommit && !session.in_explicit_transaction;
  const bool timed_out = error.code == er::kLockWaitTimeout &&
                         session.server.variables->global("innodb_rollback_on_timeout").as_int() != 0;
  if (!own_transaction && !timed_out && error.code != er::kLockDeadlock && error.code != er::kServerShutdown)
    co_return;
  if (!own_transaction) warn_of_what_stays(session);
  rollback_transaction(session);
}

Task<Status> complete(SessionState& session, StatementContext& context) {
  if (!context.entered || !session.transaction->active()) co_return Status();
  session.transaction->end_statement();
  const bool own_transaction = session.settings.autocommit && !session.in_explicit_transaction;
  if (auto status = co_await commit_beside(context); !status.ok()) {
    if (own_transaction) rollback_transaction(session);
    co_return status;
  }
  if (!own_transaction) co_return Status();
  co_return co_await commit_transaction(session);
}

// Says nothing that somebody could rely on before its transaction has ended: a count of rows in a transaction
// that may still be rolled back is none of that.
bool says_nothing(const ast::Statement& statement, const OkInfo& ok) {
  switch (statement.kind) {
    case StatementKind::Insert:
      return ok.last_insert_id == 0 || ast::as<ast::InsertStatement>(statement).on_duplicate.empty();
    case StatementKind::Update:
    case StatementKind::Delete:
      return ok.last_insert_id == 0;  // LAST_INSERT_ID(expression) tells what a row holds
    case StatementKind::Savepoint:
    case StatementKind::RollbackToSavepoint:
    case StatementKind::ReleaseSavepoint:
      return true;
    default:
      return false;
  }
}

// All but the statements that answer with nothing of what they see, or end what has seen it.
bool sees_only_what_is_settled(SessionState& session, const ast::Statement& statement) {
  const bool may_use = says_nothing(statement, {}) || statement.kind == StatementKind::Commit ||
                       statement.kind == StatementKind::Rollback;
  if (session.transaction)
    session.transaction->set_unacknowledged(may_use ? txn::Unacknowledged::Use : txn::Unacknowledged::Wait);
  return !may_use;
}

// Early lock release: nobody is told what follows from a commit that is not acknowledged.
bool is_unsettled(SessionState& session) {
  return session.transaction && session.transaction->depends_on_unacknowledged();
}
Task<Status> settle(SessionState& session) {
  Status settled = co_await session.transaction->settle();
  if (!settled.ok()) rollback_transaction(session);
  co_return settled;
}

Status change_prepared(PreparedStatementCommands& prepared, const ast::Statement& statement) {
  if (statement.kind == StatementKind::Prepare)
    return prepared.prepare_by_name(ast::as<ast::PrepareStatement>(statement));
  return prepared.deallocate_by_name(ast::as<ast::NameStatement>(statement).name);
}

void answer_error(SessionState& session, const Error& error, ResultSink& sink) {
  session.row_count = -1;
  session.diagnostics.add(Diagnostics::Level::Error, error);
  sink.error(error);
}

}  // namespace

Status use_database(SessionState& session, std::string_view db) {
  if (is_virtual_database(db)) {
    session.database = std::string(db);
    session.tracker.schema_changed();
    return {};
  }
  COMMITD_RETURN_IF_ERROR(require_initialized(session.server));
  if (!session.server.catalog->has_database(db)) return make_error(er::kBadDb, "Unknown database '{}'", db);
  session.refresh_account();
  if (session.record == nullptr || !session.record->sees_database(db))
    return session.require_on_database(db, privilege::kSelect);
  session.database = std::string(db);
  session.tracker.schema_changed();
  return {};
}

Task<bool> run_statement(SessionState& session, PreparedStatementCommands& prepared,
                         const ast::Statement& statement, std::span<const Value> parameters, ResultSink& sink,
                         bool more_results, CachedPlan* kept) {
  sink.more_results = more_results;
  start_statement(session, statement);
  const StatementMeter meter(session, statement, sink);
  count_statement(session, statement);
  if (statement.kind == StatementKind::Execute) {
    co_return co_await prepared.execute_by_name(ast::as<ast::ExecuteStatement>(statement), sink,
                                                more_results);
  }
  StatementContext context{session, parameters, {}};
  context.kept = kept;
  context.changes = statement.kind == StatementKind::Insert || statement.kind == StatementKind::Update ||
                    statement.kind == StatementKind::Delete;
  const Gtid last_gtid_before = last_committed_gtid(session);
  Result<Answer> answer = Answer{};
  Status settled;
  if (sees_only_what_is_settled(session, statement) && is_unsettled(session))
    settled = co_await settle(session);
  if (!settled.ok()) {
    answer = settled.error();
  } else if (statement.kind == StatementKind::Prepare || statement.kind == StatementKind::Deallocate) {
    if (auto status = change_prepared(prepared, statement); !status.ok()) answer = std::move(status).error();
  } else {
    answer = co_await dispatch_under_gtid(context, statement, sink);
  }
  if (answer.ok()) {
    auto completed = co_await complete(session, context);
    if (!completed.ok()) answer = std::move(completed).error();
  } else {
    co_await undo(session, context, answer.error());
  }
  note_used_gtid(session, last_gtid_before);
  if (tells_of_statements(session))
    tell_of_statement(session, statement, last_committed_gtid(session) != last_gtid_before);
  if (is_unsettled(session) && (!answer.ok() || !says_nothing(statement, answer->ok))) {
    settled = co_await settle(session);
    if (!settled.ok()) answer = settled.error();
  }
  if (!answer.ok()) {
    answer_error(session, std::move(answer).error(), sink);
    co_return false;
  }
  end_statement(session, statement, *answer, sink, more_results);
  co_return true;
}

Task<Result<std::vector<ResultColumn>>> describe_statement(SessionState& session,
                                                           const ast::Statement& statement,
                                                           std::span<const Value> parameters) {
  RowBuffer buffer;
  if (statement.kind != StatementKind::Select && statement.kind != StatementKind::Show)
    co_return std::vector<ResultColumn>();
  start_statement(session, statement);
  StatementContext context{session, parameters, {}};
  context.describe_only = true;
  Status status;
  if (statement.kind == StatementKind::Select)
    status = co_await run_select(context, ast::as<ast::SelectStatement>(statement), buffer);
  else
    status = co_await execute_show(context, ast::as<ast::ShowStatement>(statement), buffer);
  if (status.ok()) {
    status = co_await complete(session, context);
  } else {
    co_await undo(session, context, status.error());
  }
  if (!status.ok()) co_return std::move(status).error();
  co_return std::move(buffer.columns);
}

}  // namespace commitd::sql

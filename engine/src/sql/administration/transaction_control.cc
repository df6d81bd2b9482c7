#include "base/error_codes.h"
#include "sql/ast/session_statements.h"
#include "sql/executor/statement_frame.h"
#include "sql/executor/statements.h"

namespace commitd::sql {
namespace {

binlog::TransactionBuffer::Context log_context(const SessionState& session) {
  binlog::TransactionBuffer::Context context;
  context.server_id = session.server.server_id;
  context.thread_id = session.connection_id;
  context.sql_mode = session.settings.sql_mode;
  context.time_zone = session.variables.text(kTimeZone);
  context.client_collation = session.settings.client_collation;
  context.connection_collation = session.settings.connection_collation;
  context.minimal_images = session.variables.text(kBinlogRowImage) == "MINIMAL";
  return context;
}

txn::Transaction::Options options_of(const SessionState& session) {
  txn::Transaction::Options options;
  options.isolation = session.settings.isolation;
  options.lock_wait_timeout = session.settings.lock_wait_timeout;
  options.table_lock_wait_timeout = session.settings.table_lock_wait_timeout;
  options.ship = session.settings.ship;
  options.max_bytes = session.server.max_binlog_cache_size.load(std::memory_order_relaxed);
  return options;
}

void begin(SessionState& session, bool read_only) {
  txn::Transaction::Options options = options_of(session);
  options.isolation = session.next_isolation.value_or(options.isolation);
  options.read_only = read_only;
  session.transaction->begin(options, log_context(session));
  session.transaction_read_only = read_only;
  session.rollback_is_incomplete = false;
  session.next_isolation.reset();
  session.next_read_only.reset();
}

}  // namespace

void begin_if_needed(SessionState& session) {
  if (session.transaction->active()) return;
  begin(session, session.next_read_only.value_or(session.settings.read_only));
}

uint64_t max_heap_table_size(const SessionState& session) {
  return session.server.variables->global("max_heap_table_size").as_uint();
}

void begin_beside(const SessionState& session, txn::Transaction& transaction) {
  txn::Transaction::Options options = options_of(session);
  // Its locks are not the session's, so a deadlock with those is not seen.
  options.table_lock_wait_timeout = std::min(options.table_lock_wait_timeout, options.lock_wait_timeout);
  transaction.begin(options, log_context(session));
}

Task<Status> begin_transaction(SessionState& session, const ast::BeginStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  if (session.table_locks.tables_locked()) session.table_locks.release();
  begin(session, statement.read_only.value_or(session.next_read_only.value_or(session.settings.read_only)));
  session.in_explicit_transaction = true;
  if (statement.consistent_snapshot) session.transaction->take_snapshot();
  co_return Status();
}

Task<Status> commit_transaction(SessionState& session) {
  session.in_explicit_transaction = false;
  if (!session.transaction || !session.transaction->active()) co_return Status();
  if (session.transaction->has_writes()) {
    if (auto status = check_may_write(session); !status.ok()) {
      session.transaction->rollback();
      co_return status;
    }
  }
  session.status.add(StatusVariable::HandlerCommit);
  co_return co_await session.transaction->commit();
}

void rollback_transaction(SessionState& session) {
  session.in_explicit_transaction = false;
  if (!session.transaction || !session.transaction->active()) return;
  session.status.add(StatusVariable::HandlerRollback);
  session.transaction->rollback();
  session.next_gtid.used = true;
}

void warn_of_what_stays(SessionState& session) {
  if (!session.transaction || !session.transaction->active() || !session.rollback_is_incomplete) return;
  session.diagnostics.add(Diagnostics::Level::Warning,
                          make_error(er::kWarningNotCompleteRollback,
                                     "Some non-transactional changed tables couldn't be rolled back"));
}

Task<Status> implicit_commit(SessionState& session) {
  co_return co_await commit_transaction(session);
}

Status savepoint_statement(SessionState& session, const ast::NameStatement& statement) {
  COMMITD_RETURN_IF_ERROR(require_data(session));
  switch (statement.kind) {
    case ast::StatementKind::Savepoint:
      if (session.settings.autocommit && !session.in_explicit_transaction)
        return {};  // as in MySQL: nothing to come back to
      begin_if_needed(session);
      session.status.add(StatusVariable::HandlerSavepoint);
      session.transaction->savepoint(statement.name);
      return {};
    case ast::StatementKind::RollbackToSavepoint:
      session.status.add(StatusVariable::HandlerSavepointRollback);
      warn_of_what_stays(session);
      return session.transaction->rollback_to_savepoint(statement.name);
    default:
      return session.transaction->release_savepoint(statement.name);
  }
}

Status set_transaction(SessionState& session, const ast::SetTransactionStatement& statement) {
  using Scope = ast::VariableScope;
  auto& variables = *session.server.variables;
  if (statement.scope == Scope::Global) {
    COMMITD_RETURN_IF_ERROR(
        session.require(privilege::kSystemVariablesAdmin, "SUPER or SYSTEM_VARIABLES_ADMIN"));
  }
  auto assign = [&](size_t ordinal, const Value& value) -> Status {
    if (statement.scope == Scope::Global) return variables.set_global(ordinal, value);
    return session.variables.set(ordinal, value);
  };
  if (statement.scope == Scope::Unspecified) {
    if (session.transaction && session.transaction->active()) {
      return make_error(er::kCantChangeTxCharacteristics,
                        "Transaction characteristics can't be changed while a transaction is in progress");
    }
    if (!statement.isolation.empty()) session.next_isolation = isolation_of(statement.isolation);
    if (statement.read_only) session.next_read_only = statement.read_only;
    return {};
  }
  if (statement.scope != Scope::Global) {  // it holds for the next one, too
    if (!statement.isolation.empty()) session.next_isolation.reset();
    if (statement.read_only) session.next_read_only.reset();
  }
  if (!statement.isolation.empty())
    COMMITD_RETURN_IF_ERROR(assign(kTransactionIsolation, Value::string(std::string(statement.isolation))));
  if (statement.read_only)
    COMMITD_RETURN_IF_ERROR(assign(kTransactionReadOnly, Value::integer(*statement.read_only)));
  session.refresh_settings();
  return {};
}

namespace {

Error uninitialized() {
  return make_error(er::kOptionPreventsStatement,
                    "The server is uninitialized: it has no data yet and only answers control statements "
                    "(ALTER INSTANCE INITIALIZE)");
}

}  // namespace

Status require_initialized(const ServerContext& server) {
  if (server.transactions == nullptr) return uninitialized();
  return {};
}

// Data that has come into being since the statement began has no transaction for it.
Status require_data(const SessionState& session) {
  if (session.server.transactions == nullptr || !session.transaction) return uninitialized();
  return {};
}

Status check_may_write(SessionState& session) {
  COMMITD_RETURN_IF_ERROR(require_data(session));
  if (session.table_locks.globally_locked()) {
    return make_error(er::kCantUpdateWithReadLock,
                      "Can't execute the query because you have a conflicting read lock");
  }
  if (session.server.instance == nullptr) return {};
  COMMITD_RETURN_IF_ERROR(session.server.instance->check_writable());
  if (!session.server.instance->only_privileged_may_write() || session.account.is_operator() ||
      session.has_privilege(privilege::kSuper) || session.has_privilege(privilege::kConnectionAdmin))
    return {};
  return make_error(
      er::kOptionPreventsStatement,
      "The MySQL server is running with the --read-only option so it cannot execute this statement");
}

}  // namespace commitd::sql

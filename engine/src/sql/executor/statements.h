// Statements other than queries and DML: what each does, with the OK it answers. Privileges and the server's
// role are checked here.
#pragma once

#include "base/result.h"
#include "runtime/task.h"
#include "sql/ast/administration.h"
#include "sql/ast/session_statements.h"
#include "sql/result_sink.h"
#include "sql/session_state.h"

namespace commitd::sql {

struct StatementContext;

// --- transactions (transaction_control.cc) ---
// Starts one unless one is open; statements that read or write call it first.
void begin_if_needed(SessionState& session);
// Another transaction under the session's settings, for what the server does by itself.
void begin_beside(const SessionState& session, txn::Transaction& transaction);
Task<Status> begin_transaction(SessionState& session,
                               const ast::BeginStatement& statement);  // commits an open one first
Task<Status> commit_transaction(SessionState& session);
void rollback_transaction(SessionState& session);
uint64_t max_heap_table_size(const SessionState& session);
// Before a rollback that a client asked for, or that ends its transaction: warning 1196.
void warn_of_what_stays(SessionState& session);
// What statements outside transactions (DDL, accounts, LOCK TABLES) do to an open one.
Task<Status> implicit_commit(SessionState& session);
Status savepoint_statement(SessionState& session, const ast::NameStatement& statement);
Status set_transaction(SessionState& session, const ast::SetTransactionStatement& statement);
// 1290 on a server that takes no writes, 1792 in a read-only transaction, 1290 while there is no engine.
Status check_may_write(SessionState& session);
// 1290 naming the state, while there is no data.
Status require_data(const SessionState& session);

// --- DDL and accounts (definition.cc) ---
Task<Result<OkInfo>> execute_ddl(SessionState& session, const ast::Statement& statement);
// The metadata lock that serialises definitions.
Task<Status> lock_definitions(txn::Transaction& transaction);
Task<Result<OkInfo>> execute_account_statement(SessionState& session, const ast::Statement& statement);

// --- administration (administration.cc) ---
Task<Result<OkInfo>> execute_control(SessionState& session, const ast::ControlInstanceStatement& statement);
Task<Result<OkInfo>> execute_change_source(SessionState& session,
                                           const ast::ChangeSourceStatement& statement);
Task<Result<OkInfo>> execute_replica_thread(SessionState& session,
                                            const ast::ReplicaThreadStatement& statement);
Task<Result<OkInfo>> execute_reset_replica(SessionState& session,
                                           const ast::ResetReplicaStatement& statement);
Task<Result<OkInfo>> execute_change_filter(SessionState& session,
                                           const ast::ChangeFilterStatement& statement);
Task<Result<OkInfo>> execute_plugin(SessionState& session,
                                    const ast::PluginStatement& statement);  // plugins.cc
Result<OkInfo> execute_kill(SessionState& session, uint64_t id, bool query_only);
Result<OkInfo> execute_shutdown(SessionState& session);

// --- the log's files and backups (log_administration.cc) ---
Task<Result<OkInfo>> execute_flush(SessionState& session, const ast::FlushStatement& statement);
Task<Result<OkInfo>> execute_reset_logs(SessionState& session);
Task<Result<OkInfo>> execute_purge(StatementContext& context, const ast::PurgeLogsStatement& statement);
Task<Status> execute_backup(StatementContext& context, const ast::BackupStatement& statement,
                            ResultSink& sink);
Task<Status> lock_tables(SessionState& session, const ast::LockTablesStatement& statement);
Task<Status> unlock_tables(SessionState& session);

}  // namespace commitd::sql

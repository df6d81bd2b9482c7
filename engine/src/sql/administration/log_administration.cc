// FLUSH, PURGE BINARY LOGS, LOCK TABLES and BACKUP.
#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/ast/administration.h"
#include "sql/bind/scope.h"
#include "sql/change/rows_in_memory.h"
#include "sql/executor/statement_context.h"
#include "sql/expression/conversion.h"
#include "sql/expression/expression.h"
#include "sql/information_schema/virtual_table.h"
#include "sql/maintenance.h"
#include "sql/process_list.h"
#include "sql/query/precompute.h"
#include "sql/query/select.h"
#include "sql/slow_log.h"

namespace commitd::sql {
namespace {

Deadline lock_deadline(const SessionState& session) {
  return Clock::now() + session.settings.table_lock_wait_timeout;
}

Task<Result<int64_t>> purge_time(StatementContext& context, const ast::Expr& tree) {
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, &tree));
  const Scope nothing;
  Binder binder = context.binder(nothing);
  auto bound = binder.bind(tree, "field list");
  if (!bound.ok()) co_return std::move(bound).error();
  Evaluation evaluation(context.session);
  Value scratch;
  const auto time = to_datetime((*bound)->evaluate(evaluation, scratch));
  COMMITD_CO_RETURN_IF_ERROR(evaluation.status());
  if (!time) co_return make_error(er::kWrongArguments, "Incorrect arguments to PURGE LOGS BEFORE");
  co_return to_unix_seconds(*time) - context.session.settings.time_zone_offset;
}

// As MySQL says it where its own reasons apply; recovery's is ours.
void warn_about_kept_files(SessionState& session, const binlog::Log& log, const binlog::PurgeReport& report,
                           uint32_t wanted) {
  for (const std::string& path : report.missing)
    session.diagnostics.warn(make_error(er::kLogPurgeNoFile, "Being purged log {} was not found", path));
  if (report.first_kept >= wanted) return;
  const std::string file = log.file_name(report.first_kept);
  const std::string reason = report.readers != 0
                                 ? fmt::format("it was being read by {} thread(s)", report.readers)
                                 : "recovery would need it";
  session.diagnostics.warn(
      make_error(er::kWarnPurgeLogInUse, "file {} was not purged because {}, purged only {} out of {} files.",
                 file, reason, report.removed, wanted - report.first_kept + report.removed));
}

Task<Result<uint32_t>> first_kept_file(StatementContext& context, const ast::PurgeLogsStatement& statement,
                                       binlog::Log& log) {
  if (statement.before == nullptr) {
    auto named = log.file_number(statement.to);
    if (!named.ok()) co_return make_error(er::kUnknownTargetBinlog, "Target log not found in binlog index");
    co_return *named;
  }
  auto time = co_await purge_time(context, *statement.before);
  if (!time.ok()) co_return std::move(time).error();
  auto kept = log.first_written_since(*time);
  if (!kept.ok()) co_return std::move(kept).error();
  const uint32_t active = log.end().file;
  if (*kept == active && *time > context.session.statement_microseconds / 1'000'000) {
    context.session.diagnostics.warn(make_error(er::kWarnPurgeLogIsActive,
                                                "file {} was not purged because it is the active log file.",
                                                log.file_name(active)));
  }
  co_return *kept;
}

std::vector<ResultColumn> text_columns(std::initializer_list<const char*> names) {
  std::vector<ResultColumn> columns;
  for (const char* name : names)
    columns.push_back(describe_column(Constant(Value::null(), ValueType::text(1024)), Scope(), name));
  return columns;
}

}  // namespace

Task<Result<OkInfo>> execute_flush(SessionState& session, const ast::FlushStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(session.require(privilege::kReload, "RELOAD"));
  COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  if (statement.status && session.server.processes != nullptr)
    session.server.processes->flush_status(session.status);
  txn::Services& services = *session.server.transactions;
  if (statement.tables_with_read_lock) {
    if (session.table_locks.tables_locked()) {
      co_return make_error(er::kLockOrActiveTransaction,
                           "Can't execute the given command because you have active locked tables or an "
                           "active transaction");
    }
    auto interrupted = [&session] { return session.interrupted(); };
    COMMITD_CO_RETURN_IF_ERROR(
        co_await session.table_locks.lock_globally(services, lock_deadline(session), std::move(interrupted)));
  }
  if (statement.binary_logs) COMMITD_CO_RETURN_IF_ERROR(co_await services.pipeline.rotate());
  if (statement.relay_logs) COMMITD_CO_RETURN_IF_ERROR(co_await services.pipeline.rotate_relay());
  if (statement.slow_logs && session.server.slow_log != nullptr)
    COMMITD_CO_RETURN_IF_ERROR(co_await session.server.slow_log->reopen());
  Maintenance* maintenance = session.server.maintenance;
  if (statement.engine_logs && maintenance != nullptr)
    COMMITD_CO_RETURN_IF_ERROR(co_await maintenance->checkpoint());
  co_return OkInfo{};
}

Task<Result<OkInfo>> execute_reset_logs(SessionState& session) {
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(session.require(privilege::kReload, "RELOAD"));
  COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  Maintenance* maintenance = session.server.maintenance;
  if (maintenance == nullptr)
    co_return make_error(er::kNotSupportedYet, "This server does not reset its log");
  COMMITD_CO_RETURN_IF_ERROR(co_await maintenance->reset_logs());
  co_return OkInfo{};
}

Task<Result<OkInfo>> execute_purge(StatementContext& context, const ast::PurgeLogsStatement& statement) {
  SessionState& session = context.session;
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(session.require(privilege::kSuper, "SUPER or BINLOG_ADMIN"));
  if (!session.server.transactions->pipeline.logging()) co_return OkInfo{};  // as MySQL
  binlog::Log& log = session.server.transactions->pipeline.log();
  auto first_kept = co_await first_kept_file(context, statement, log);
  if (!first_kept.ok()) co_return std::move(first_kept).error();
  Maintenance* maintenance = session.server.maintenance;
  Task<Result<binlog::PurgeReport>> purging =
      maintenance != nullptr ? maintenance->purge_logs(*first_kept)
                             : session.server.transactions->pipeline.purge_to(*first_kept);
  auto report = co_await purging;
  if (!report.ok()) co_return std::move(report).error();
  warn_about_kept_files(session, log, *report, *first_kept);
  co_return OkInfo{};
}

Task<Status> execute_backup(StatementContext& context, const ast::BackupStatement& statement,
                            ResultSink& sink) {
  SessionState& session = context.session;
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  if (!session.has_privilege(privilege::kSuper))
    COMMITD_CO_RETURN_IF_ERROR(session.require(privilege::kBackupAdmin, "SUPER or BACKUP_ADMIN"));
  Maintenance* maintenance = session.server.maintenance;
  if (maintenance == nullptr) co_return make_error(er::kNotSupportedYet, "This server makes no backups");
  std::string directory(statement.directory);
  auto made = co_await maintenance->backup(std::move(directory));
  if (!made.ok()) co_return std::move(made).error();
  sink.begin_rows(text_columns({"File", "Position", "Executed_Gtid_Set"}));
  const Row row{Value::string(made->log_file), Value::string(std::to_string(made->log_position)),
                Value::string(made->executed.to_string())};
  sink.send_row(row);
  co_return Status();
}

Task<Status> lock_tables(SessionState& session, const ast::LockTablesStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  if (session.table_locks.tables_locked()) session.table_locks.release();
  std::vector<TableLocks::Wanted> wanted;
  for (const auto& table : statement.tables) {
    const std::string db(table.name.db.empty() ? std::string_view(session.database) : table.name.db);
    if (db.empty()) co_return make_error(er::kNoDb, "No database selected");
    COMMITD_CO_RETURN_IF_ERROR(session.require_on_table(
        db, table.name.name, privilege::kSelect | privilege::kLockTables, "SELECT, LOCK TABLES"));
    if (is_virtual_database(db)) continue;
    if (table.write && session.table_locks.globally_locked())
      COMMITD_CO_RETURN_IF_ERROR(check_may_write(session));
    if (session.server.catalog->find_table(db, table.name.name) == nullptr)
      co_return make_error(er::kNoSuchTable, "Table '{}.{}' doesn't exist", db, table.name.name);
    COMMITD_CO_RETURN_IF_ERROR(co_await empty_if_rows_are_lost(session, db, table.name.name));
    wanted.push_back({db, std::string(table.name.name), table.write});
  }
  co_return co_await session.table_locks.lock(*session.server.transactions, std::move(wanted),
                                              lock_deadline(session));
}

// Ends the transaction only after LOCK TABLES: a consistent snapshot taken under the global read lock stays,
// which is how mysqldump takes one.
Task<Status> unlock_tables(SessionState& session) {
  Status status;
  if (session.table_locks.tables_locked()) status = co_await implicit_commit(session);
  session.table_locks.release();
  co_return status;
}

}  // namespace commitd::sql

#include "sql/information_schema/regressions.h"

#include <algorithm>

#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

// tools/regressions-page makes docs/regressions.md of it.
constexpr Regression kAll[] = {
    {"R1", "000", "commitd_observer_locking", "lockfree", "mutex,rwlock",
     "wait/synch/mutex/sql/LOCK_plugin,wait/synch/rwlock/sql/LOCK_plugin,"
     "wait/synch/rwlock/sql/Binlog_transmit_delegate::lock,wait/synch/rwlock/sql/Trans_delegate::lock,"
     "commitd_observer_calls_total",
     "Every call of an observer takes the lock of the plugins."},
    {"R2", "000", "commitd_observe_every_dump", "OFF", "ON",
     "commitd_observer_calls_total,commitd_dump_events_sent_total",
     "Readers of the log that do not speak semisync call the hooks of semisync for every event."},
    {"R3", "000", "commitd_after_commit_hook", "commits", "statements", "commitd_observer_calls_total",
     "The after_commit hook runs for every statement, and three times for a definition."},
    {"R4", "000", "commitd_dump_lock", "none", "log_lock", "wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_log",
     "Readers read the log under the lock under which it is written."},
    {"R5", "000", "commitd_wakeup", "targeted", "broadcast",
     "commitd_wakeups_total,wait/synch/cond/sql/MYSQL_BIN_LOG::COND_done,"
     "wait/synch/cond/sql/MYSQL_BIN_LOG::update_cond",
     "Whoever waits is woken by everybody's progress."},
    {"R6", "001", "commitd_gtid_persister", "merged", "append_only",
     "commitd_gtid_persister_calls_total,commitd_gtid_persister_intervals_passed_total,"
     "commitd_gtid_persister_seconds,wait/synch/rwlock/sql/gtid_commit_rollback",
     "The GTIDs of each batch are added to a list that nothing merges: each gap makes it longer to walk."},
    {"R7", "001", "gtid_executed_compression_period", "1000", "0",
     "commitd_gtid_executed_rows,commitd_gtid_executed_rows_read_total,"
     "commitd_gtid_executed_compressions_total,commitd_gtid_executed_load_seconds",
     "gtid_executed is stored as a row for each transaction, which every start reads."},
    {"R8", "002", "commitd_close_connection_locked", "OFF", "ON",
     "commitd_connections_closed_locked_total,wait/synch/mutex/sql/LOCK_thd_list",
     "Who disconnects ends his connections to other servers while nobody else may come or go."},
    {"R9", "003", "commitd_deadlock_detector", "incremental", "recursive,background",
     "commitd_deadlock_searches_total,commitd_deadlock_search_steps_total,"
     "commitd_deadlock_global_lock_acquisitions_total,commitd_deadlock_search_cpu_seconds_total",
     "Every wait for a row searches all waits, while nobody else may lock."},
    {"R10", "003", "commitd_purge_batch_size", "500", "0",
     "commitd_history_length,commitd_purge_rounds_total,commitd_purge_slices_total,"
     "commitd_purge_pages_total,commitd_purge_removed_total,commitd_scan_garbage_skipped_total",
     "A round of purging takes all garbage in one go, and nothing else is merged meanwhile."},
    {"R11", "004", "commitd_prepare_commit_mutex", "OFF", "ON",
     "commitd_commit_groups_total,commitd_commit_group_transactions_total",
     "One transaction at a time is prepared, logged and committed (with commitd_durability=xa)."},
    {"R12", "004", "commitd_durability", "single_log", "xa",
     "commitd_engine_fsyncs_total,commitd_binlog_fsyncs_total",
     "Three syncs for one commit: the engine is prepared, the log is synced, the engine commits."},
    {"R13", "004", "binlog_order_commits", "ON", "OFF", "commitd_commits_out_of_order_total",
     "The engine commits in another order than the log has (with commitd_durability=xa)."},
    {"R14", "004", "commitd_plugin_unload", "OFF", "ON", "",
     "A leak report names nothing in a library that was unloaded."},
    {"R15", "004", "commitd_ack_wait", "pipelined", "in_commit_stage",
     "commitd_ack_wait_turns_total,commitd_commit_groups_total,commitd_commit_stage_seconds",
     "No group is written while the one before waits for its acknowledgement."},
    {"R16", "000", "commitd_relay_lock", "none", "log_lock", "wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_log",
     "A replica applies events that it reads under the lock under which it writes what it receives."},
};

Value current(const Regression& regression, const SystemVariables& variables) {
  const size_t ordinal = variables.find(regression.variable);
  if (ordinal == SystemVariables::kNone) return Value::null();
  return text_value(variables.to_text(ordinal, variables.global(ordinal)));
}

std::vector<Row> regressions_rows(SessionState& session) {
  const SystemVariables& variables = *session.server.variables;
  std::vector<Row> rows;
  for (const Regression& regression : regressions()) {
    rows.push_back({text_value(regression.id), text_value(regression.seed), text_value(regression.variable),
                    text_value(regression.fixed), text_value(regression.legacy_values),
                    current(regression, variables), text_value(regression.counters),
                    text_value(regression.what)});
  }
  return rows;
}

}  // namespace

std::span<const Regression> regressions() {
  return kAll;
}

bool is_legacy(const Regression& regression, std::string_view value) {
  for (std::string_view rest = regression.legacy_values; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (rest.substr(0, end) == value) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::vector<VirtualTable> regression_tables() {
  return {{virtual_definition("information_schema", "COMMITD_REGRESSIONS",
                              {text("ID", 8), text("SEED", 8), text("VARIABLE_NAME"), text("DEFAULT_VALUE"),
                               text("LEGACY_VALUE"), text("CURRENT_VALUE"), long_text("COUNTERS"),
                               long_text("DESCRIPTION")}),
           regressions_rows}};
}

}  // namespace commitd::sql

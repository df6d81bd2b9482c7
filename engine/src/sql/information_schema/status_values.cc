#include "sql/information_schema/status_values.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "observe/metrics.h"
#include "sql/process_list.h"

namespace commitd::sql {
namespace {

// MySQL's name for a figure that /metrics has under ours; every other metric appears under its own name,
// capitalised.
const std::map<std::string, std::string>& mysql_names() {
  static const std::map<std::string, std::string> names = {
      {"commitd_connections_total", "Connections"},
      {"commitd_aborted_connects_total", "Aborted_connects"},
      {"commitd_history_length", "Innodb_history_list_length"},
      {"commitd_rows_inserted_total", "Innodb_rows_inserted"},
      {"commitd_rows_updated_total", "Innodb_rows_updated"},
      {"commitd_rows_deleted_total", "Innodb_rows_deleted"},
      {"commitd_rows_read_total", "Innodb_rows_read"},
      {"commitd_network_bytes_received_total", "Bytes_received"},
      {"commitd_network_bytes_sent_total", "Bytes_sent"},
      {"commitd_transactions_committed_total", "Binlog_cache_use"},
      {"commitd_binlog_cache_disk_use_total", "Binlog_cache_disk_use"},
      {"commitd_deadlocks_total", "Innodb_deadlocks"},
      {"commitd_row_lock_timeouts_total", "Innodb_row_lock_timeouts"},
      {"commitd_row_lock_waits_total", "Innodb_row_lock_waits"},
      {"commitd_row_locks_waiting", "Innodb_row_lock_current_waits"},
      {"commitd_binlog_fsyncs_total", "Innodb_os_log_fsyncs"},
      {"commitd_semisync_clients", "Rpl_semi_sync_source_clients"},
      {"commitd_semisync_waiters", "Rpl_semi_sync_source_wait_sessions"},
      {"commitd_semisync_tx_waits_total", "Rpl_semi_sync_source_tx_waits"},
      {"commitd_semisync_yes_tx_total", "Rpl_semi_sync_source_yes_tx"},
      {"commitd_semisync_no_tx_total", "Rpl_semi_sync_source_no_tx"},
      {"commitd_semisync_given_up_total", "Rpl_semi_sync_source_no_times"},
      {"commitd_semisync_acks_total", "Rpl_semi_sync_source_net_waits"},
  };
  return names;
}

std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{}", static_cast<int64_t>(value))
                                                              : fmt::format("{:.6f}", value);
}

// Other characters, those of labels among them, become underscores.
std::string status_name(const std::string& metric) {
  std::string name;
  for (char c : metric) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

using Values = std::map<std::string, std::string>;

void add_metrics(Values& values, SessionState& session) {
  double lock_waits = 0, lock_seconds = 0, ack_waits = 0, ack_seconds = 0;
  for (const auto& [metric, value] : observe::snapshot()) {
    if (metric.starts_with("commitd_wait_event")) continue;  // performance_schema has them
    auto alias = mysql_names().find(metric);
    if (alias != mysql_names().end()) values[alias->second] = number_text(value);
    values[status_name(metric)] = number_text(value);
    if (metric == "commitd_row_lock_waits_total") lock_waits = value;
    if (metric == "commitd_row_lock_wait_seconds_total") lock_seconds = value;
    if (metric == "commitd_semisync_tx_waits_total") ack_waits = value;
    if (metric == "commitd_semisync_tx_wait_seconds_total") ack_seconds = value;
    if (metric == "commitd_row_lock_longest_wait_seconds")
      values["Innodb_row_lock_time_max"] = number_text(std::floor(value * 1000));
    if (metric == "process_start_time_seconds") {
      values["Uptime"] = number_text(
          std::max(0.0, std::floor(static_cast<double>(session.statement_microseconds) / 1e6 - value)));
    }
  }
  values["Rpl_semi_sync_source_tx_wait_time"] = number_text(std::floor(ack_seconds * 1e6));
  values["Rpl_semi_sync_source_tx_avg_wait_time"] =
      number_text(ack_waits == 0 ? 0 : std::floor(ack_seconds * 1e6 / ack_waits));
  values["Innodb_row_lock_time"] = number_text(std::floor(lock_seconds * 1000));
  values["Innodb_row_lock_time_avg"] =
      number_text(lock_waits == 0 ? 0 : std::floor(lock_seconds * 1000 / lock_waits));
}

void add_sessions(Values& values, SessionState& session, StatusScope scope) {
  size_t connected = 1, running = 1, most = 1;
  StatusCounters::Values counted{}, all{};
  session.status.add_to(counted);
  all = counted;
  if (const ProcessList* processes = session.server.processes) {
    const auto list = processes->list();
    connected = list.size();
    running = static_cast<size_t>(std::count_if(
        list.begin(), list.end(), [](const ProcessInfo& info) { return info.command != "Sleep"; }));
    most = processes->most();
    all = processes->status_totals();
  }
  values["Threads_connected"] = std::to_string(connected);
  values["Threads_running"] = std::to_string(running);
  values["Max_used_connections"] = std::to_string(most);
  values["Queries"] = std::to_string(all[static_cast<size_t>(StatusVariable::Questions)]);
  if (scope == StatusScope::Global) counted = all;
  for (size_t i = 0; i < counted.size(); ++i)
    values[std::string(status_variable_name(i))] = std::to_string(counted[i]);
}

void add_semisync(Values& values) {
  const auto is_one = [&values](const char* name) {
    const auto found = values.find(name);
    return found != values.end() && found->second == "1" ? "ON" : "OFF";
  };
  values["Rpl_semi_sync_source_status"] = is_one("Commitd_semisync_on");
  values["Rpl_semi_sync_replica_status"] = is_one("Commitd_replica_acknowledges");
  // As in MySQL, which has stopped to measure them.
  for (const char* name :
       {"net_avg_wait_time", "net_wait_time", "timefunc_failures", "wait_pos_backtraverse"})
    values[std::string("Rpl_semi_sync_source_") + name] = "0";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> status_values(SessionState& session, StatusScope scope) {
  Values values;
  add_metrics(values, session);
  add_sessions(values, session, scope);
  add_semisync(values);
  // Sorts and groups stay in memory: nothing has ever been put on a disk.
  values["Created_tmp_disk_tables"] = "0";
  values["Created_tmp_files"] = "0";
  if (session.server.tls_status) {
    for (auto& [name, value] : session.server.tls_status()) values[name] = std::move(value);
  }
  values["Ssl_cipher"] = session.tls.cipher;
  values["Ssl_version"] = session.tls.version;
  return {values.begin(), values.end()};
}

}  // namespace commitd::sql

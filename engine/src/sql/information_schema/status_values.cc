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
      {"commitd_rows_inserted_total", "Innodb_rows_inserted"},
      {"commitd_rows_updated_total", "Innodb_rows_updated"},
      {"commitd_rows_deleted_total", "Innodb_rows_deleted"},
      {"commitd_rows_read_total", "Innodb_rows_read"},
      {"commitd_row_lock_waits_total", "Innodb_row_lock_waits"},
      {"commitd_row_locks_waiting", "Innodb_row_lock_current_waits"},
      {"commitd_binlog_fsyncs_total", "Innodb_os_log_fsyncs"},
      {"commitd_semisync_clients", "Rpl_semi_sync_source_clients"},
      {"commitd_semisync_waiters", "Rpl_semi_sync_source_wait_sessions"},
      {"commitd_semisync_tx_waits_total", "Rpl_semi_sync_source_tx_waits"},
  };
  return names;
}

std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{}", static_cast<int64_t>(value))
                                                              : fmt::format("{:.6f}", value);
}

// commitd_commands_total{command="select"} → Com_select; other labels are appended.
std::string status_name(const std::string& metric) {
  constexpr std::string_view kCommand = "commitd_commands_total{command=\"";
  if (metric.starts_with(kCommand))
    return "Com_" + metric.substr(kCommand.size(), metric.size() - kCommand.size() - 2);
  std::string name;
  for (char c : metric) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> status_values(SessionState& session) {
  std::map<std::string, std::string> values;
  double queries = 0;
  for (const auto& [metric, value] : observe::snapshot()) {
    auto alias = mysql_names().find(metric);
    if (alias != mysql_names().end()) values[alias->second] = number_text(value);
    std::string name = status_name(metric);
    if (name.starts_with("Com_")) queries += value;
    values[name] = number_text(value);
    if (metric == "process_start_time_seconds") {
      values["Uptime"] = number_text(
          std::max(0.0, std::floor(static_cast<double>(session.statement_microseconds) / 1e6 - value)));
    }
  }
  values["Queries"] = values["Questions"] = number_text(queries);
  size_t connected = session.server.processes ? session.server.processes->size() : 1;
  values["Threads_connected"] = number_text(static_cast<double>(connected));
  auto clients = values.find("Rpl_semi_sync_source_clients");
  values["Rpl_semi_sync_source_status"] = clients != values.end() && clients->second != "0" ? "ON" : "OFF";
  values["Ssl_cipher"] = "";
  return {values.begin(), values.end()};
}

}  // namespace commitd::sql

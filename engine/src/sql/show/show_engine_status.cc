// SHOW ENGINE … STATUS: the last deadlock and the counters of locks and rows, laid out as InnoDB's monitor
// does.
#include <fmt/chrono.h>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "sql/ast/administration.h"
#include "sql/information_schema/locked_objects.h"
#include "sql/show/show.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
using Member = txn::DeadlockReport::Member;

std::string section(std::string_view title) {
  const std::string rule(title.size(), '-');
  return fmt::format("{}\n{}\n{}\n", rule, title, rule);
}

std::string_view mode_text(const Member& member) {
  return member.mode == txn::LockMode::Exclusive ? "X" : "S";
}

std::string waits_for(const Member& member, const LockedObjects& objects) {
  const auto object = objects.find(member.waits_for);
  if (!object) return "a lock that is gone";
  if (object->is_table())
    return fmt::format("TABLE LOCK table `{}`.`{}` lock_mode {} waiting", object->schema, object->table,
                       mode_text(member));
  return fmt::format(
      "RECORD LOCKS index {} of table `{}`.`{}` lock_mode {} locks rec but not gap waiting\nkey {}",
      object->index, object->schema, object->table, mode_text(member), object->data);
}

std::string deadlock_text(const txn::DeadlockReport& report, const LockedObjects& objects) {
  std::string text =
      fmt::format("{:%Y-%m-%d %H:%M:%S}\n", fmt::gmtime(std::chrono::system_clock::to_time_t(report.at)));
  if (report.search_gave_up)
    text +=
        "TOO DEEP OR LONG SEARCH IN THE LOCK TABLE WAITS-FOR GRAPH, WE WILL ROLL BACK FOLLOWING "
        "TRANSACTION\n";
  size_t number = 0, victim = 0;
  for (const Member& member : report.members) {
    ++number;
    if (member.victim) victim = number;
    text += fmt::format(
        "*** ({0}) TRANSACTION:\nTRANSACTION {1}\n{2} lock(s), row changes {3}\nMySQL thread id {4}\n{5}\n"
        "*** ({0}) WAITING FOR THIS LOCK TO BE GRANTED:\n{6}\n",
        number, member.transaction_id, member.locks, member.rows_changed, member.connection_id,
        member.statement, waits_for(member, objects));
  }
  return text + fmt::format("*** WE ROLL BACK TRANSACTION ({})\n", victim);
}

uint64_t metric(const std::vector<std::pair<std::string, double>>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  return found == all.end() ? 0 : static_cast<uint64_t>(found->second);
}

std::string status_text(SessionState& session) {
  const auto metrics = observe::snapshot();
  txn::LockManager& locks = session.server.transactions->locks;
  std::string text =
      "=====================================\nROCKS MONITOR OUTPUT\n=====================================\n";
  if (const auto report = locks.last_deadlock())
    text += section("LATEST DETECTED DEADLOCK") + deadlock_text(*report, LockedObjects(session));
  text += section("TRANSACTIONS");
  text += fmt::format("History list length {}\n", metric(metrics, "commitd_history_length"));
  text += fmt::format(
      "{} lock waits, {} waiting now, {} timeouts, {} deadlocks\n"
      "deadlock detection: {} searches, {} steps\n",
      metric(metrics, "commitd_row_lock_waits_total"), metric(metrics, "commitd_row_locks_waiting"),
      metric(metrics, "commitd_row_lock_timeouts_total"), metric(metrics, "commitd_deadlocks_total"),
      metric(metrics, "commitd_deadlock_searches_total"),
      metric(metrics, "commitd_deadlock_search_steps_total"));
  text += section("ROW OPERATIONS");
  text += fmt::format(
      "Number of rows inserted {}, updated {}, deleted {}, read {}\n",
      metric(metrics, "commitd_rows_inserted_total"), metric(metrics, "commitd_rows_updated_total"),
      metric(metrics, "commitd_rows_deleted_total"), metric(metrics, "commitd_rows_read_total"));
  return text + "----------------------------\nEND OF ROCKS MONITOR OUTPUT\n============================\n";
}

bool is_our_engine(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower == "rocks" || lower == "rocksdb" || lower == "innodb";
}

}  // namespace

Result<ShowResult> show_engine_status(const ast::ShowStatement& statement, SessionState& session) {
  COMMITD_RETURN_IF_ERROR(session.require(privilege::kProcess, "PROCESS"));
  if (!is_our_engine(statement.engine))
    return make_error(er::kUnknownStorageEngine, "Unknown storage engine '{}'", statement.engine);
  if (session.server.transactions == nullptr)
    return make_error(er::kOptionPreventsStatement, "The server is uninitialized: there is no engine yet");
  auto result = shown({text("Type", 10), text("Name", 512), long_text("Status")});
  result.rows.push_back({text_value("ROCKS"), text_value(""), text_value(status_text(session))});
  return result;
}

}  // namespace commitd::sql

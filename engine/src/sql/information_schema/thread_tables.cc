// performance_schema: sessions as threads. A session has its connection's id also as its thread id, because
// it has no thread of its own; what else runs in the server is not listed.
#include "sql/information_schema/virtual_table.h"
#include "sql/process_list.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "performance_schema";

Value optional_text(const std::string& text) {
  return text.empty() ? Value::null() : text_value(text);
}

// Those the session may see: its own without PROCESS, as in SHOW PROCESSLIST.
std::vector<ProcessInfo> visible_processes(SessionState& session) {
  std::vector<ProcessInfo> list = session.server.processes->list();
  if (session.account.is_operator() || session.has_privilege(privilege::kProcess)) return list;
  std::erase_if(list, [&](const ProcessInfo& process) { return process.user != session.account.user; });
  return list;
}

std::vector<Row> threads_rows(SessionState& session) {
  std::vector<Row> rows;
  for (const ProcessInfo& process : visible_processes(session)) {
    rows.push_back({number_value(process.id), text_value("thread/sql/one_connection"),
                    text_value("FOREGROUND"), number_value(process.id), optional_text(process.user),
                    optional_text(process.host), optional_text(process.db), text_value(process.command),
                    number_value(process.seconds), optional_text(process.state), optional_text(process.info),
                    Value::null(), Value::null(), text_value("YES"), text_value("YES"), Value::null(),
                    Value::null()});
  }
  return rows;
}

std::vector<Row> processlist_rows(SessionState& session) {
  std::vector<Row> rows;
  for (const ProcessInfo& process : visible_processes(session)) {
    rows.push_back({number_value(process.id), text_value(process.user), text_value(process.host),
                    optional_text(process.db), text_value(process.command), number_value(process.seconds),
                    text_value(process.state), optional_text(process.info), text_value("PRIMARY")});
  }
  return rows;
}

}  // namespace

std::vector<VirtualTable> thread_tables() {
  return {
      {virtual_definition(
           kSchema, "threads",
           {number("THREAD_ID"), text("NAME", 128), text("TYPE", 10), number("PROCESSLIST_ID"),
            text("PROCESSLIST_USER", 32), text("PROCESSLIST_HOST", 255), text("PROCESSLIST_DB"),
            text("PROCESSLIST_COMMAND", 16), number("PROCESSLIST_TIME"), text("PROCESSLIST_STATE"),
            long_text("PROCESSLIST_INFO"), number("PARENT_THREAD_ID"), text("ROLE"), text("INSTRUMENTED", 3),
            text("HISTORY", 3), text("CONNECTION_TYPE", 16), number("THREAD_OS_ID")}),
       threads_rows},
      {virtual_definition(
           kSchema, "processlist",
           {number("ID"), text("USER", 32), text("HOST", 261), text("DB"), text("COMMAND", 16),
            signed_number("TIME"), text("STATE"), long_text("INFO"), text("EXECUTION_ENGINE", 9)}),
       processlist_rows},
  };
}

}  // namespace commitd::sql

// information_schema: the server itself, its sessions and its character sets.
#include "base/charset/collation.h"
#include "sql/information_schema/virtual_table.h"
#include "sql/process_list.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "information_schema";

std::vector<Row> engines_rows(SessionState&) {
  std::vector<Row> rows;
  for (const auto& engine : storage::table_engines()) {
    const char* transactional = engine.transactional ? "YES" : "NO";
    rows.push_back({text_value(engine.name), text_value(rows.empty() ? "DEFAULT" : "YES"),
                    text_value(engine.comment), text_value(transactional), text_value("NO"),
                    text_value(transactional)});
  }
  return rows;
}

std::vector<Row> processlist_rows(SessionState& session) {
  std::vector<Row> rows;
  bool all = session.account.is_operator() || session.has_privilege(privilege::kProcess);
  for (const auto& process : session.server.processes->list()) {
    if (!all && process.user != session.account.user) continue;
    auto optional = [](const std::string& text) { return text.empty() ? Value::null() : text_value(text); };
    rows.push_back({number_value(process.id), text_value(process.user), text_value(process.host),
                    optional(process.db), text_value(process.command), number_value(process.seconds),
                    text_value(process.state), optional(process.info)});
  }
  return rows;
}

std::vector<Row> character_sets_rows(SessionState&) {
  std::vector<Row> rows;
  for (const auto& charset : all_charsets()) {
    rows.push_back({text_value(charset.name), text_value(charset.default_collation),
                    text_value(charset.description), number_value(charset.max_bytes)});
  }
  return rows;
}

std::vector<Row> collations_rows(SessionState&) {
  std::vector<Row> rows;
  for (const auto& collation : all_collations()) {
    const auto& charset = charset_info(collation.charset);
    rows.push_back({text_value(collation.name), text_value(charset.name), number_value(collation.id),
                    text_value(charset.default_collation == collation.name ? "Yes" : ""), text_value("Yes"),
                    number_value(1), text_value(collation.pad_space ? "PAD SPACE" : "NO PAD")});
  }
  return rows;
}

}  // namespace

std::vector<VirtualTable> server_tables() {
  return {
      {virtual_definition(kSchema, "ENGINES",
                          {text("ENGINE"), text("SUPPORT", 8), text("COMMENT", 80), text("TRANSACTIONS", 3),
                           text("XA", 3), text("SAVEPOINTS", 3)}),
       engines_rows},
      {virtual_definition(kSchema, "PROCESSLIST",
                          {number("ID"), text("USER", 32), text("HOST", 261), text("DB"), text("COMMAND", 16),
                           signed_number("TIME"), text("STATE"), long_text("INFO")}),
       processlist_rows},
      {virtual_definition(kSchema, "CHARACTER_SETS",
                          {text("CHARACTER_SET_NAME"), text("DEFAULT_COLLATE_NAME"),
                           text("DESCRIPTION", 2048), number("MAXLEN")}),
       character_sets_rows},
      {virtual_definition(
           kSchema, "COLLATIONS",
           {text("COLLATION_NAME"), text("CHARACTER_SET_NAME"), number("ID"), text("IS_DEFAULT", 3),
            text("IS_COMPILED", 3), number("SORTLEN"), text("PAD_ATTRIBUTE", 9)}),
       collations_rows},
  };
}

}  // namespace commitd::sql

// mysql.servers: what CREATE SERVER has made, passwords included, for those who may read it.
#include "sql/catalog.h"
#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

std::vector<Row> server_rows(SessionState& session) {
  std::vector<Row> rows;
  if (session.server.catalog == nullptr) return rows;
  for (const ServerDef& server : session.server.catalog->servers()) {
    rows.push_back({text_value(server.name), text_value(server.host), text_value(server.db),
                    text_value(server.user), text_value(server.password), Value::integer(server.port),
                    text_value(server.socket), text_value(server.wrapper), text_value(server.owner)});
  }
  return rows;
}

}  // namespace

std::vector<VirtualTable> foreign_server_tables() {
  return {{virtual_definition(
               "mysql", "servers",
               {text("Server_name"), text("Host", 255), text("Db"), text("Username"), text("Password"),
                signed_number("Port"), text("Socket"), text("Wrapper"), text("Owner")}),
           server_rows}};
}

}  // namespace commitd::sql

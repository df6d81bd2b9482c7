#include "sql/federated/remote_address.h"

#include "base/error_codes.h"

namespace commitd::sql {
namespace {

using storage::RemoteTable;

Error malformed_connection(std::string_view connection, uint16_t code) {
  const std::string_view began =
      code == er::kForeignDataStringInvalidCantCreate ? "Can't create federated table. " : "";
  return make_error(code, "{}The data source connection string '{}' is not in the correct format", began,
                    connection);
}

// SOCKET counts where the host is this machine, as in MySQL.
bool is_reached_by_socket(const ServerDef& server) {
  return !server.socket.empty() && (server.host.empty() || server.host == "localhost");
}

RemoteTable table_on(const ServerDef& server, std::string_view table) {
  RemoteTable remote;
  remote.host = server.host.empty() ? "localhost" : server.host;
  if (server.port != 0) remote.port = static_cast<uint16_t>(server.port);
  remote.user = server.user;
  remote.password = server.password;
  remote.db = server.db;
  remote.table = table;
  return remote;
}

}  // namespace

Result<RemoteTable> remote_address(const Catalog& catalog, const TableDef& table, uint16_t malformed) {
  const std::string_view connection = table.connection;
  if (!storage::names_a_server(connection)) {
    auto parsed = storage::parse_connection_string(connection);
    if (!parsed) return malformed_connection(connection, malformed);
    return *std::move(parsed);
  }
  const size_t slash = connection.find('/');
  const std::string_view name = connection.substr(0, slash);
  const std::string_view there =
      slash == std::string_view::npos ? std::string_view(table.name) : connection.substr(slash + 1);
  const auto server = catalog.find_server(name);
  if (!server) {
    return make_error(
        er::kForeignServerDoesntExist,
        "The foreign server name you are trying to reference does not exist. Data source error: "
        " server name: '{}' doesn't exist!",
        name);
  }
  if (is_reached_by_socket(*server))
    return make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support 'SOCKET of a server'");
  const bool leads_to_a_table = !there.empty() && there.find('/') == std::string_view::npos &&
                                !server->db.empty() && server->port <= UINT16_MAX;
  if (!leads_to_a_table) return malformed_connection(connection, malformed);
  return table_on(*server, there);
}

}  // namespace commitd::sql

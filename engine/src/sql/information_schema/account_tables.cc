// Accounts and what they may do: information_schema's views of it, and the tables of the mysql database that
// tools read. The latter are made from the accounts' records when they are read, and are not listed.
#include <algorithm>

#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

struct PrivilegeColumn {
  const char* name;
  Privileges bit;  // 0: there is no such privilege here
};

constexpr PrivilegeColumn kUserColumns[] = {{"Select_priv", privilege::kSelect},
                                            {"Insert_priv", privilege::kInsert},
                                            {"Update_priv", privilege::kUpdate},
                                            {"Delete_priv", privilege::kDelete},
                                            {"Create_priv", privilege::kCreate},
                                            {"Drop_priv", privilege::kDrop},
                                            {"Reload_priv", privilege::kReload},
                                            {"Shutdown_priv", privilege::kShutdown},
                                            {"Process_priv", privilege::kProcess},
                                            {"File_priv", privilege::kFile},
                                            {"Grant_priv", privilege::kGrantOption},
                                            {"References_priv", privilege::kReferences},
                                            {"Index_priv", privilege::kIndex},
                                            {"Alter_priv", privilege::kAlter},
                                            {"Show_db_priv", privilege::kShowDatabases},
                                            {"Super_priv", privilege::kSuper},
                                            {"Create_tmp_table_priv", privilege::kCreateTemporaryTables},
                                            {"Lock_tables_priv", privilege::kLockTables},
                                            {"Execute_priv", privilege::kExecute},
                                            {"Repl_slave_priv", privilege::kReplicationSlave},
                                            {"Repl_client_priv", privilege::kReplicationClient},
                                            {"Create_view_priv", privilege::kCreateView},
                                            {"Show_view_priv", privilege::kShowView},
                                            {"Create_routine_priv", privilege::kCreateRoutine},
                                            {"Alter_routine_priv", privilege::kAlterRoutine},
                                            {"Create_user_priv", privilege::kCreateUser},
                                            {"Event_priv", privilege::kEvent},
                                            {"Trigger_priv", privilege::kTrigger},
                                            {"Create_tablespace_priv", 0}};

constexpr PrivilegeColumn kDatabaseColumns[] = {{"Select_priv", privilege::kSelect},
                                                {"Insert_priv", privilege::kInsert},
                                                {"Update_priv", privilege::kUpdate},
                                                {"Delete_priv", privilege::kDelete},
                                                {"Create_priv", privilege::kCreate},
                                                {"Drop_priv", privilege::kDrop},
                                                {"Grant_priv", privilege::kGrantOption},
                                                {"References_priv", privilege::kReferences},
                                                {"Index_priv", privilege::kIndex},
                                                {"Alter_priv", privilege::kAlter},
                                                {"Create_tmp_table_priv", privilege::kCreateTemporaryTables},
                                                {"Lock_tables_priv", privilege::kLockTables},
                                                {"Create_view_priv", privilege::kCreateView},
                                                {"Show_view_priv", privilege::kShowView},
                                                {"Create_routine_priv", privilege::kCreateRoutine},
                                                {"Alter_routine_priv", privilege::kAlterRoutine},
                                                {"Execute_priv", privilege::kExecute},
                                                {"Event_priv", privilege::kEvent},
                                                {"Trigger_priv", privilege::kTrigger}};

// Calls `each` with every account the session may see: all, or its own.
template <class Each>
void for_each_account(SessionState& session, Each each) {
  if (!session.server.accounts) return;
  const bool all = session.account.is_operator() || session.has_privilege(privilege::kSelect);
  for (const auto& account : session.server.accounts->all()) {
    if (all || (account->user == session.account.user && account->host == session.account.host))
      each(*account);
  }
}

Value flag(Privileges privileges, Privileges bit) {
  return text_value((privileges & bit) != 0 ? "Y" : "N");
}

// A password's hash as MySQL prints it; ours of caching_sha2_password in hexadecimal.
std::string printed_hash(const AccountRecord& account) {
  if (account.auth_string.empty()) return {};
  std::string out = account.plugin == "mysql_native_password" ? "*" : "";
  for (unsigned char byte : account.auth_string) out += fmt::format("{:02X}", byte);
  return out;
}

VirtualTable user_table() {
  std::vector<ColumnDef> columns = {text("Host", 255), text("User", 32)};
  for (const auto& column : kUserColumns) columns.push_back(text(column.name, 1));
  for (const char* name : {"plugin", "authentication_string", "password_expired", "account_locked"})
    columns.push_back(text(name, 128));
  return {virtual_definition("mysql", "user", std::move(columns)), [](SessionState& session) {
            std::vector<Row> rows;
            for_each_account(session, [&](const AccountRecord& account) {
              Row row = {text_value(account.host), text_value(account.user)};
              for (const auto& column : kUserColumns) row.push_back(flag(account.global, column.bit));
              row.push_back(text_value(account.plugin));
              row.push_back(text_value(printed_hash(account)));
              row.push_back(text_value("N"));
              row.push_back(text_value(account.locked ? "Y" : "N"));
              rows.push_back(std::move(row));
            });
            return rows;
          }};
}

VirtualTable db_table() {
  std::vector<ColumnDef> columns = {text("Host", 255), text("Db"), text("User", 32)};
  for (const auto& column : kDatabaseColumns) columns.push_back(text(column.name, 1));
  return {virtual_definition("mysql", "db", std::move(columns)), [](SessionState& session) {
            std::vector<Row> rows;
            for_each_account(session, [&](const AccountRecord& account) {
              for (const auto& [db, privileges] : account.databases) {
                Row row = {text_value(account.host), text_value(db), text_value(account.user)};
                for (const auto& column : kDatabaseColumns) row.push_back(flag(privileges, column.bit));
                rows.push_back(std::move(row));
              }
            });
            return rows;
          }};
}

VirtualTable tables_priv_table() {
  return {virtual_definition("mysql", "tables_priv",
                             {text("Host", 255), text("Db"), text("User", 32), text("Table_name"),
                              text("Table_priv", 256), text("Column_priv", 64)}),
          [](SessionState& session) {
            std::vector<Row> rows;
            for_each_account(session, [&](const AccountRecord& account) {
              for (const auto& [name, privileges] : account.tables) {
                std::string held;
                for (std::string_view privilege : privilege::names(privileges))
                  held += fmt::format("{}{}", held.empty() ? "" : ",", privilege);
                rows.push_back({text_value(account.host), text_value(name.first), text_value(account.user),
                                text_value(name.second), text_value(held), text_value("")});
              }
            });
            return rows;
          }};
}

// One row per privilege, as all of information_schema's tables of privileges have.
void add_privileges(std::vector<Row>& rows, const AccountRecord& account,
                    const std::vector<std::string>& object, Privileges privileges) {
  std::vector<std::string_view> names = privilege::names(privileges);
  if (names.empty()) names.emplace_back("USAGE");
  for (std::string_view name : names) {
    Row row = {text_value("'" + account.user + "'@'" + account.host + "'"), text_value("def")};
    for (const std::string& part : object) row.push_back(text_value(part));
    row.push_back(text_value(name));
    row.push_back(text_value((privileges & privilege::kGrantOption) != 0 ? "YES" : "NO"));
    rows.push_back(std::move(row));
  }
}

VirtualTable privileges_table(const char* name, const std::vector<const char*>& object,
                              std::function<void(std::vector<Row>&, const AccountRecord&)> add) {
  std::vector<ColumnDef> columns = {text("GRANTEE", 292), text("TABLE_CATALOG")};
  for (const char* part : object) columns.push_back(text(part));
  columns.push_back(text("PRIVILEGE_TYPE"));
  columns.push_back(text("IS_GRANTABLE", 3));
  return {virtual_definition("information_schema", name, std::move(columns)),
          [add = std::move(add)](SessionState& session) {
            std::vector<Row> rows;
            for_each_account(session, [&](const AccountRecord& account) { add(rows, account); });
            return rows;
          }};
}

}  // namespace

std::vector<VirtualTable> account_tables() {
  return {user_table(),
          db_table(),
          tables_priv_table(),
          privileges_table("USER_PRIVILEGES", {},
                           [](std::vector<Row>& rows, const AccountRecord& account) {
                             add_privileges(rows, account, {}, account.global);
                           }),
          privileges_table("SCHEMA_PRIVILEGES", {"TABLE_SCHEMA"},
                           [](std::vector<Row>& rows, const AccountRecord& account) {
                             for (const auto& [db, privileges] : account.databases)
                               add_privileges(rows, account, {db}, privileges);
                           }),
          privileges_table("TABLE_PRIVILEGES", {"TABLE_SCHEMA", "TABLE_NAME"},
                           [](std::vector<Row>& rows, const AccountRecord& account) {
                             for (const auto& [name, privileges] : account.tables)
                               add_privileges(rows, account, {name.first, name.second}, privileges);
                           })};
}

}  // namespace commitd::sql

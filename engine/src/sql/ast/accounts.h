// Syntax trees of what concerns accounts.
#pragma once

#include <optional>

#include "sql/account.h"
#include "sql/ast/expression.h"
#include "sql/ast/statement.h"

namespace commitd::sql::ast {

struct AccountName {
  std::string_view user, host = "%";
};
struct AccountSpec {
  AccountName name;
  bool has_authentication = false;
  std::string_view plugin;
  std::string_view password;  // clear text
  std::string_view hash;      // IDENTIFIED WITH plugin AS 'hash'
  bool has_password = false, has_hash = false;
};
struct UserStatement : Statement {  // CREATE, ALTER, DROP USER, SET PASSWORD
  UserStatement(StatementKind kind_of, std::pmr::memory_resource* memory)
      : Statement(kind_of), accounts(memory) {}
  bool if_exists = false;  // IF [NOT] EXISTS
  List<AccountSpec> accounts;
  std::optional<bool> locked;
  std::optional<TlsRequirement> require;
};
struct GrantStatement : Statement {  // GRANT and REVOKE
  explicit GrantStatement(std::pmr::memory_resource* memory)
      : Statement(StatementKind::Grant), privileges(memory), accounts(memory) {}
  bool revoke = false;
  bool with_grant_option = false;
  bool global = false;      // ON *.*
  bool everything = false;  // REVOKE ALL PRIVILEGES, GRANT OPTION FROM …
  std::string_view db;      // ON db.* or db.table
  std::string_view table;
  List<std::string_view> privileges;  // upper case: "SELECT", "ALL" …
  List<AccountName> accounts;
};

}  // namespace commitd::sql::ast

// CREATE, ALTER, DROP USER, SET PASSWORD, GRANT and REVOKE: from a syntax tree to what changes. As with DDL,
// replay takes the same way.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "sql/accounts/accounts.h"
#include "sql/ast/statement.h"
#include "sql/diagnostics.h"
#include "storage/write_set.h"

namespace commitd::sql {

struct AccountEffect {
  WriteSet writes;
  std::function<void()> publish;
  std::string logged;    // the statement for the binlog: hashes in place of passwords
  bool nothing = false;  // IF [NOT] EXISTS found nothing to do
};

bool is_account_statement(ast::StatementKind kind);

// `default_db`: what GRANT … ON table without a database means. `current`: the account that CURRENT_USER()
// and SET PASSWORD without FOR mean; may be null during replay.
Result<AccountEffect> plan_account_statement(const ast::Statement& statement, Accounts& accounts,
                                             const AccountRecord* current, std::string_view default_db,
                                             Diagnostics& diagnostics);

}  // namespace commitd::sql

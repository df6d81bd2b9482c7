// SET of system and user variables, SET NAMES.
#pragma once

#include "sql/ast/session_statements.h"
#include "sql/executor/statement_context.h"

namespace commitd::sql {

Task<Status> execute_set(StatementContext& context, const ast::SetStatement& statement);
Status reset_persist(SessionState& session, const ast::ResetPersistStatement& statement);
// What SET NAMES, the handshake and COM_CHANGE_USER do. Errors 1115 and 1273.
Status set_names(SessionState& session, std::string_view charset, std::string_view collation);

}  // namespace commitd::sql

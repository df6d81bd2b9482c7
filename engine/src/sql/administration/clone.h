// CLONE.
#pragma once

#include "sql/ast/administration.h"
#include "sql/executor/statements.h"

namespace commitd::sql {

Task<Status> execute_clone(SessionState& session, const ast::CloneStatement& statement);

}  // namespace commitd::sql

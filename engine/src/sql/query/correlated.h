// Subqueries that refer to the statement around them: their tables are opened beforehand, their rows read
// while the outer row is evaluated.
#pragma once

#include "sql/ast/select.h"
#include "sql/executor/statement_context.h"

namespace commitd::sql {

// Opens the tables of a subquery that cannot run alone (and of those in it); Binder finds them in
// context.precomputed.
Task<Status> open_correlated(StatementContext& context, const ast::SelectStatement& select);

}  // namespace commitd::sql

// ONLY_FULL_GROUP_BY: what a grouped SELECT shows must have one value per group.
#pragma once

#include "base/result.h"
#include "sql/ast/select.h"
#include "sql/query/from_clause.h"

namespace commitd::sql {

// Columns in HAVING that it does not see: it sees what is selected and what is grouped by, in any sql_mode.
// (Such a name may be one of the statement around it.)
std::vector<Scope::Address> hidden_in_having(const ast::SelectStatement& select, const Scope& scope,
                                             const FromClause& from);

// Errors 1055 and 1140. Columns that depend on those grouped by are fine: by a key of their
// table, or by equality in WHERE and inner joins. `read_by_subqueries`: the columns that those in each item
// read.
Status check_groups(const ast::SelectStatement& select, const Scope& scope, const FromClause& from,
                    const std::vector<std::vector<Scope::Address>>& read_by_subqueries);

}  // namespace commitd::sql

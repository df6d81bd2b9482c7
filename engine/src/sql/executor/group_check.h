// ONLY_FULL_GROUP_BY: what a grouped SELECT shows must have one value per group.
#pragma once

#include "base/result.h"
#include "sql/executor/from_clause.h"

namespace commitd::sql {

// Errors 1055, 1140 and 1054 (HAVING). Columns that depend on those grouped by are fine: by a key of their
// table, or by equality in WHERE and inner joins.
Status check_groups(const ast::SelectStatement& select, const Scope& scope, const FromClause& from);

}  // namespace commitd::sql

// ORDER BY of a UNION: of what its parts gave together.
#pragma once

#include <span>
#include <vector>

#include "sql/ast/select.h"
#include "sql/executor/statement_context.h"

namespace commitd::sql {

Task<Status> sort_union(StatementContext& context, const ast::SelectStatement& select,
                        std::span<const ResultColumn> columns, std::vector<Row>& rows);

}  // namespace commitd::sql

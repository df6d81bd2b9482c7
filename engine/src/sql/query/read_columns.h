// Which columns of a table a SELECT can read: scans need not decode the others.
#pragma once

#include <optional>
#include <vector>

#include "sql/ast/select.h"
#include "sql/bind/scope.h"

namespace commitd::sql {

// By their names in the statement's text, whatever they are qualified with; up to the last of them. nullopt:
// any column may be read (*, subqueries, joins by name).
std::optional<std::vector<bool>> columns_named(const ast::SelectStatement& select, const Source& source);

}  // namespace commitd::sql

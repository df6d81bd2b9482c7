// In which order the tables of inner joins are read: by a simple estimate of the rows that are looked at.
#pragma once

#include <span>
#include <vector>

#include "sql/bind/scope.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

// The numbers of the sources. As they are written, unless another order promises much less work: without
// ORDER BY the rows come in an order that people get used to.
std::vector<size_t> join_order(const Scope& scope, std::span<const Expression* const> conjuncts);
std::vector<size_t> written_order(const Scope& scope);

}  // namespace commitd::sql

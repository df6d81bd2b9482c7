// CASE, IF, IFNULL and COALESCE: one result of several branches.
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

// A branch as what it is in a result of `common` type: a BIT or YEAR among texts is a text, a TIME among
// dates is one of the day on which the statement runs.
ExpressionPtr branch_of(const ValueType& common, ExpressionPtr branch);

}  // namespace commitd::sql

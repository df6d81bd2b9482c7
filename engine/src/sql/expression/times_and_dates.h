// A time beside a date is one of the day on which the statement runs.
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

ExpressionPtr time_of_today(ExpressionPtr time);
// The expression, or, when it is a time and `other` has a date, that time of today.
ExpressionPtr time_beside_date(ExpressionPtr expression, const Expression& other);

}  // namespace commitd::sql

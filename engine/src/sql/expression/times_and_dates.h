// A time beside a date, or where a date is wanted, is one of the day on which the statement runs; a text is
// the date that it begins with.
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

bool is_time(const ValueType& type);
ExpressionPtr time_of_today(ExpressionPtr time);
// The expression, or, when it is a time and `other` has a date, that time of today.
ExpressionPtr time_beside_date(ExpressionPtr expression, const Expression& other);

// Warns where it is not wholly a date (1292); nullopt: it begins with none.
std::optional<Temporal> date_of_text(const std::string& text, Evaluation& evaluation);
// The expression, or the date of its text.
ExpressionPtr dated_text(ExpressionPtr expression);

}  // namespace commitd::sql

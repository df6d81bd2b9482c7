// BIT and YEAR columns are numbers, but where a text is wanted: there they are their bytes, and four digits.
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

// The text of an expression whose type is BIT or YEAR; any other as it is.
ExpressionPtr text_of_bits(ExpressionPtr expression);

}  // namespace commitd::sql

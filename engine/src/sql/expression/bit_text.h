// BIT and YEAR columns are numbers, but where a text is wanted: there they are their bytes, and four digits.
// Reals with so many digits behind the point (FLOAT(7,3), PI()) have them in their text, too.
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

// The text of an expression of such a type; any other as it is.
ExpressionPtr text_of_bits(ExpressionPtr expression);

}  // namespace commitd::sql

// BIT columns are numbers, but where a text is wanted: there they are their bytes.
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

// The bytes of an expression whose type is BIT; any other as it is.
ExpressionPtr text_of_bits(ExpressionPtr expression);

}  // namespace commitd::sql

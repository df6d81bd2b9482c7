// Numbers beside texts become texts, where there is nothing else among them (GREATEST, LEAST).
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

void numbers_beside_texts(Expressions& expressions);

}  // namespace commitd::sql

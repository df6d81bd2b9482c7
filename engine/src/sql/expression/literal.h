#pragma once

#include <optional>

#include "base/value.h"
#include "sql/ast/expression.h"

namespace commitd::sql {

// The value of a literal, with its sign; nullopt when the expression is anything else.
std::optional<Value> literal_value(const ast::Expr& expression);

}  // namespace commitd::sql

#pragma once

#include <optional>
#include <string_view>

#include "base/value.h"
#include "sql/ast/expression.h"

namespace commitd::sql {

// The value of a literal, with its sign; nullopt when the expression is anything else.
std::optional<Value> literal_value(const ast::Expr& expression);

// x'41' and b'1000001': bytes, which count as an unsigned integer where a number is wanted.
bool is_byte_literal(const ast::Expr& expression);
// Of more than eight bytes the last ones.
Value number_of_bytes(std::string_view bytes);

}  // namespace commitd::sql

#include "sql/expression/byte_literal.h"

#include "sql/expression/literal.h"

namespace commitd::sql {

ExpressionPtr number_of_byte_literal(ExpressionPtr expression) {
  const auto* literal = dynamic_cast<const ByteLiteral*>(expression.get());
  if (literal == nullptr) return expression;
  return std::make_unique<Constant>(number_of_bytes(literal->value().as_string()));
}

}  // namespace commitd::sql

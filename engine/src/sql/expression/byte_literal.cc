#include "sql/expression/byte_literal.h"

#include "base/charset/collation.h"
#include "sql/expression/literal.h"
#include "sql/expression/operators.h"

namespace commitd::sql {

bool is_byte_literal(const Expression& expression) {
  return dynamic_cast<const ByteLiteral*>(&expression) != nullptr;
}

ExpressionPtr number_behind_text(ExpressionPtr expression) {
  const auto* literal = dynamic_cast<const ByteLiteral*>(expression.get());
  if (literal == nullptr) return number_of_label(std::move(expression));
  return std::make_unique<Constant>(number_of_bytes(literal->value().as_string()));
}

ExpressionPtr text_beside_text(ExpressionPtr expression, const Expression& other) {
  const auto* literal = dynamic_cast<const ByteLiteral*>(expression.get());
  const ValueType& type = other.type();
  const bool gives_collation =
      type.is_string() && type.strength != ValueType::Strength::Weak && type.collation != kBinaryCollation;
  if (literal == nullptr || !gives_collation) return expression;
  ValueType text = literal->type();
  text.collation = type.collation;
  return std::make_unique<Constant>(Value::string(literal->value().as_string()), text);
}

}  // namespace commitd::sql

#include "sql/expression/byte_literal.h"

#include "sql/expression/literal.h"

namespace commitd::sql {

ExpressionPtr number_of_byte_literal(ExpressionPtr expression) {
  const auto* literal = dynamic_cast<const ByteLiteral*>(expression.get());
  if (literal == nullptr) return expression;
  return std::make_unique<Constant>(number_of_bytes(literal->value().as_string()));
}

bool takes_number(const ColumnDef& column) {
  switch (column.type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
    case FieldType::Float:
    case FieldType::Double:
    case FieldType::NewDecimal:
    case FieldType::Year:
      return true;
    default:
      return false;
  }
}

}  // namespace commitd::sql

#pragma once

#include "sql/expression/expression.h"
#include "storage/record/column_format.h"

namespace commitd::sql {

// x'41' or b'1000001' as it stands in a statement. Where a number is wanted it is one, other than the same
// bytes from a column, a function or a variable.
class ByteLiteral : public Constant {
 public:
  using Constant::Constant;
  ExpressionPtr copy() const override { return std::make_unique<ByteLiteral>(*this); }
};

bool is_byte_literal(const Expression& expression);

// Literals of bytes, and ENUM and SET columns, are texts that stand for a number as well: that number; any
// other expression as it is.
ExpressionPtr number_behind_text(ExpressionPtr expression);

// x'41' beside a text of a column or with a COLLATE clause is a text too, which goes by that one's collation.
ExpressionPtr text_beside_text(ExpressionPtr expression, const Expression& other);

// What is put into a column: a number where the column holds numbers. BIT takes bytes as they are.
inline ExpressionPtr for_column(const ColumnDef& column, ExpressionPtr expression) {
  return is_numeric(column.type) ? number_behind_text(std::move(expression)) : std::move(expression);
}

}  // namespace commitd::sql

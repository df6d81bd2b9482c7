// Expressions over others.
#pragma once

#include <initializer_list>
#include <utility>

#include "sql/expression/expression.h"

namespace commitd::sql {

// What the operands read, the expression reads. A null pointer is an operand that is not there.
inline void inherit(Expression& parent, std::initializer_list<const Expression*> operands) {
  for (const Expression* operand : operands) {
    if (operand == nullptr) continue;
    parent.sources |= operand->sources;
    parent.has_aggregate |= operand->has_aggregate;
  }
}

class OneOperand : public Expression {
 protected:
  explicit OneOperand(ExpressionPtr operand) : operand_(std::move(operand)) {
    inherit(*this, {operand_.get()});
  }
  ExpressionPtr operand_;
};

}  // namespace commitd::sql

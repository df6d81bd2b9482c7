// ENUM and SET columns are texts but where a number is wanted, and in ORDER BY: there they are their label's
// number, or the labels' bits.
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "storage/record/column_format.h"

namespace commitd::sql {
namespace {

class LabelNumber : public OneOperand {
 public:
  LabelNumber(ExpressionPtr column, const ColumnDef& definition)
      : OneOperand(std::move(column)), definition_(definition) {
    type_ = ValueType::integer(21, true);
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.is_null()) return value;
    scratch = Value::unsigned_integer(label_number(definition_, value));
    return scratch;
  }

 private:
  const ColumnDef& definition_;
};

}  // namespace

ExpressionPtr number_of_label(ExpressionPtr expression) {
  const ColumnDef* definition = expression->labels();
  if (definition == nullptr) return expression;
  return std::make_unique<LabelNumber>(std::move(expression), *definition);
}

bool is_number(const ValueType& type) {
  return type.is_integer() || type.type == FieldType::NewDecimal || type.type == FieldType::Double ||
         type.type == FieldType::Float;
}

}  // namespace commitd::sql

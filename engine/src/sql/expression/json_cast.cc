// CAST(… AS JSON).
#include "sql/expression/json_value.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

class JsonCast : public OneOperand {
 public:
  explicit JsonCast(ExpressionPtr operand) : OneOperand(std::move(operand)) { type_ = ValueType::json(); }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    if (operand.is_null())
      scratch = Value::null();
    else if (operand.kind() == Value::Kind::String)
      scratch = parsed(operand, evaluation);
    else
      scratch = json_value(json_of(operand, operand_->type()), evaluation);
    return scratch;
  }

 private:
  static Value parsed(const Value& text, Evaluation& evaluation) {
    auto document = parse_json_argument(text, 1, "cast_as_json");
    if (document.ok()) return *std::move(document);
    evaluation.fail(std::move(document).error());
    return Value::null();
  }
};

}  // namespace

ExpressionPtr make_json_cast(ExpressionPtr operand) {
  return std::make_unique<JsonCast>(std::move(operand));
}

}  // namespace commitd::sql

// REGEXP, RLIKE.
#include "sql/expression/bit_text.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "sql/expression/regular_expression.h"

namespace commitd::sql {
namespace {

class Regexp : public Expression {
 public:
  Regexp(ExpressionPtr operand, ExpressionPtr pattern, bool negated)
      : operand_(std::move(operand)),
        pattern_(std::move(pattern)),
        negated_(negated),
        mode_(RegexpMode::of(collation_or_binary(comparison_collation(operand_->type(), pattern_->type())))) {
    type_ = ValueType::boolean();
    inherit(*this, {operand_.get(), pattern_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch, pattern_scratch;
    std::string operand_text, pattern_text;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    const Value& pattern = pattern_->evaluate(evaluation, pattern_scratch);
    scratch = Value::null();
    if (operand.is_null() || pattern.is_null()) return scratch;
    auto expression = RegularExpression::get(text_view(pattern, pattern_text), mode_, evaluation);
    Result<bool> found =
        expression.ok() ? (*expression)->find(text_view(operand, operand_text), 1, 1) : expression.error();
    if (found.ok())
      scratch = Value::integer(*found != negated_);
    else
      evaluation.fail(std::move(found).error());
    return scratch;
  }

 private:
  ExpressionPtr operand_, pattern_;
  bool negated_;
  RegexpMode mode_;
};

}  // namespace

ExpressionPtr make_regexp(ExpressionPtr operand, ExpressionPtr pattern, bool negated) {
  return std::make_unique<Regexp>(text_of_bits(std::move(operand)), text_of_bits(std::move(pattern)),
                                  negated);
}

}  // namespace commitd::sql

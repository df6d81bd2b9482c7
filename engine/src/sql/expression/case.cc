// CASE.
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

class Case : public Expression {
 public:
  Case(ExpressionPtr operand, Expressions branches, bool has_else)
      : operand_(std::move(operand)), branches_(std::move(branches)), has_else_(has_else) {
    std::vector<ValueType> types;
    for (size_t i = 0; i < branches_.size(); ++i) {
      inherit(*this, {branches_[i].get()});
      if (i % 2 == 1 || (has_else && i + 1 == branches_.size())) types.push_back(branches_[i]->type());
    }
    inherit(*this, {operand_.get()});
    type_ = common_type(types);
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value* operand = operand_ ? &operand_->evaluate(evaluation, operand_scratch) : nullptr;
    for (size_t i = 0; i + 1 < branches_.size(); i += 2) {
      const Value& when = branches_[i]->evaluate(evaluation, scratch);
      const bool taken =
          operand == nullptr
              ? is_true(when)
              : !operand->is_null() && !when.is_null() &&
                    compare_values(*operand, when,
                                   comparison_collation(operand_->type(), branches_[i]->type())) == 0;
      if (taken) return result(*branches_[i + 1], evaluation, scratch);
    }
    if (has_else_) return result(*branches_.back(), evaluation, scratch);
    scratch = Value::null();
    return scratch;
  }

 private:
  const Value& result(const Expression& branch, Evaluation& evaluation, Value& scratch) const {
    scratch = Value(branch.evaluate(evaluation, scratch));
    conform(scratch, type_);
    return scratch;
  }

  ExpressionPtr operand_;
  Expressions branches_;
  bool has_else_;
};

}  // namespace

ExpressionPtr make_case(ExpressionPtr operand, Expressions branches, bool has_else) {
  return std::make_unique<Case>(std::move(operand), std::move(branches), has_else);
}

}  // namespace commitd::sql

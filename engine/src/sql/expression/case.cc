// CASE.
#include "sql/expression/branches.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/collations.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

class Case : public Expression {
 public:
  // `operand`: compared with each WHEN; null where these are conditions.
  Case(ExpressionPtr operand, Expressions branches, bool has_else)
      : operand_(std::move(operand)), branches_(std::move(branches)), has_else_(has_else) {
    const ValueType common = common_type(types_of_results());
    for (size_t i = 0; i < branches_.size(); ++i)
      if (is_result(i)) branches_[i] = branch_of(common, std::move(branches_[i]));
    for (const ExpressionPtr& branch : branches_) inherit(*this, {branch.get()});
    inherit(*this, {operand_.get()});
    type_ = common_type(types_of_results());
    collation_ = common_collation();
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value* operand = operand_ ? &operand_->evaluate(evaluation, operand_scratch) : nullptr;
    for (size_t i = 0; i + 1 < branches_.size(); i += 2) {
      const Value& when = branches_[i]->evaluate(evaluation, scratch);
      const bool taken = operand == nullptr ? is_true(when)
                                            : !operand->is_null() && !when.is_null() &&
                                                  compare_values(*operand, when, collation_) == 0;
      if (taken) return result(*branches_[i + 1], evaluation, scratch);
    }
    if (has_else_) return result(*branches_.back(), evaluation, scratch);
    scratch = Value::null();
    return scratch;
  }

 private:
  bool is_result(size_t branch) const {
    return branch % 2 == 1 || (has_else_ && branch + 1 == branches_.size());
  }
  std::vector<ValueType> types_of_results() const {
    std::vector<ValueType> types;
    for (size_t i = 0; i < branches_.size(); ++i)
      if (is_result(i)) types.push_back(branches_[i]->type());
    return types;
  }
  uint16_t common_collation() const {
    CommonCollation common;
    if (operand_) common.add(*operand_);
    for (size_t i = 0; i + 1 < branches_.size(); i += 2) common.add(*branches_[i]);
    return common.collation();
  }
  const Value& result(const Expression& branch, Evaluation& evaluation, Value& scratch) const {
    scratch = Value(branch.evaluate(evaluation, scratch));
    conform(scratch, type_);
    return scratch;
  }

  ExpressionPtr operand_;
  Expressions branches_;
  bool has_else_;
  uint16_t collation_;
};

// As text and number (labels), as dates or as documents the operand is not compared alike with all WHENs.
bool needs_pairs(const Expression& operand) {
  const ValueType& type = operand.type();
  return operand.copy() != nullptr && (operand.labels() != nullptr || is_byte_literal(operand) ||
                                       type.is_temporal() || type.type == FieldType::Json);
}

}  // namespace

ExpressionPtr make_case(ExpressionPtr operand, Expressions branches, bool has_else) {
  // Each WHEN is compared as its kind and the operand's have it.
  if (operand && needs_pairs(*operand)) {
    for (size_t i = 0; i + 1 < branches.size(); i += 2)
      branches[i] = make_comparison(ast::Op::Equal, operand->copy(), std::move(branches[i]));
    operand.reset();
  }
  for (size_t i = 0; operand == nullptr && i + 1 < branches.size(); i += 2)
    branches[i] = number_behind_text(std::move(branches[i]));
  return std::make_unique<Case>(std::move(operand), std::move(branches), has_else);
}

}  // namespace commitd::sql

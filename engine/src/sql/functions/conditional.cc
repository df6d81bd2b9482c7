#include "sql/expression/branches.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

class Coalesce : public Expression {
 public:
  explicit Coalesce(Expressions arguments) : arguments_(std::move(arguments)) {
    const ValueType common = common_type(types_of(arguments_));
    for (ExpressionPtr& argument : arguments_) argument = branch_of(common, std::move(argument));
    bool nullable = true;
    for (const ExpressionPtr& argument : arguments_) {
      nullable &= argument->type().nullable;
      sources |= argument->sources;
      has_aggregate |= argument->has_aggregate;
    }
    type_ = common_type(types_of(arguments_));
    type_.nullable = nullable;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    for (const ExpressionPtr& argument : arguments_) {
      const Value& value = argument->evaluate(evaluation, scratch);
      if (value.is_null()) continue;
      scratch = Value(value);
      conform(scratch, type_);
      return scratch;
    }
    scratch = Value::null();
    return scratch;
  }

 private:
  static std::vector<ValueType> types_of(const Expressions& expressions) {
    std::vector<ValueType> types;
    for (const ExpressionPtr& expression : expressions) types.push_back(expression->type());
    return types;
  }

  Expressions arguments_;
};

// `left` has a copy.
ExpressionPtr null_if_equal(ExpressionPtr left, ExpressionPtr right) {
  ExpressionPtr copy = left->copy();
  Expressions branches;
  ValueType null = left->type();
  null.nullable = true;
  branches.push_back(make_comparison(ast::Op::Equal, std::move(copy), std::move(right)));
  branches.push_back(std::make_unique<Constant>(Value::null(), null));
  branches.push_back(std::move(left));
  return make_case(nullptr, std::move(branches), true);
}

class NullIf : public Expression {
 public:
  NullIf(ExpressionPtr left, ExpressionPtr right) : left_(std::move(left)), right_(std::move(right)) {
    if (is_number(right_->type())) left_ = numeric_text(std::move(left_));
    if (is_number(left_->type())) right_ = numeric_text(std::move(right_));
    type_ = left_->type();
    type_.nullable = true;
    sources = left_->sources | right_->sources;
    has_aggregate = left_->has_aggregate || right_->has_aggregate;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value right_scratch;
    const Value& left = left_->evaluate(evaluation, scratch);
    const Value& right = right_->evaluate(evaluation, right_scratch);
    const bool equal = !left.is_null() && !right.is_null() &&
                       compare_values(left, right, comparison_collation(left_->type(), right_->type())) == 0;
    if (!equal) return left;
    scratch = Value::null();
    return scratch;
  }

 private:
  ExpressionPtr left_, right_;
};

}  // namespace

ExpressionPtr make_conditional(std::string_view name, Expressions& arguments) {
  if (name == "IF" && arguments.size() == 3) return make_case(nullptr, std::move(arguments), true);
  if ((name == "IFNULL" && arguments.size() == 2) || (name == "COALESCE" && !arguments.empty())) {
    return std::make_unique<Coalesce>(std::move(arguments));
  }
  if (name == "NULLIF" && arguments.size() == 2) {
    const Expression& left = *arguments[0];
    if (left.labels() != nullptr || left.type().is_temporal() || left.type().type == FieldType::Json) {
      if (left.copy()) return null_if_equal(std::move(arguments[0]), std::move(arguments[1]));
    }
    return std::make_unique<NullIf>(std::move(arguments[0]), std::move(arguments[1]));
  }
  return nullptr;
}

}  // namespace commitd::sql

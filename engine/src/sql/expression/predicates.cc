// Comparison, three-valued logic, IN, BETWEEN, IS.
#include <algorithm>

#include "sql/expression/byte_literal.h"
#include "sql/expression/collations.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "sql/expression/times_and_dates.h"

namespace commitd::sql {
namespace {

using ast::Op;

void set_truth(Value& result, Truth t, bool negated = false) {
  if (t == Truth::Unknown)
    result = Value::null();
  else
    result = Value::integer((t == Truth::True) != negated);
}

class Predicate : public Expression {
 public:
  Predicate() { type_ = ValueType::boolean(); }
};

class Comparison : public Predicate {
 public:
  Comparison(Op op, ExpressionPtr left, ExpressionPtr right)
      : op_(op),
        left_(std::move(left)),
        right_(std::move(right)),
        collation_(comparison_collation(left_->type(), right_->type())) {
    inherit(*this, {left_.get(), right_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value left_scratch, right_scratch;
    const Value& left = left_->evaluate(evaluation, left_scratch);
    if (left.is_null() && op_ != Op::NullSafeEqual) {  // nothing is told about the right side then
      scratch = Value::null();
      return scratch;
    }
    const Value& right = right_->evaluate(evaluation, right_scratch);
    scratch = compare(left, right);
    return scratch;
  }
  ComparisonParts parts() const { return {op_, left_.get(), right_.get()}; }

 private:
  Value compare(const Value& left, const Value& right) const {
    if (left.is_null() || right.is_null()) {
      return op_ == Op::NullSafeEqual ? Value::integer(left.is_null() && right.is_null()) : Value::null();
    }
    const auto order = compare_values(left, right, collation_);
    switch (op_) {
      case Op::Equal:
      case Op::NullSafeEqual:
        return Value::integer(order == 0);
      case Op::NotEqual:
        return Value::integer(order != 0);
      case Op::Less:
        return Value::integer(order < 0);
      case Op::LessEqual:
        return Value::integer(order <= 0);
      case Op::Greater:
        return Value::integer(order > 0);
      default:
        return Value::integer(order >= 0);
    }
  }
  Op op_;
  ExpressionPtr left_, right_;
  uint16_t collation_;
};

class Logic : public Predicate {
 public:
  Logic(Op op, ExpressionPtr left, ExpressionPtr right)
      : op_(op), left_(std::move(left)), right_(std::move(right)) {
    inherit(*this, {left_.get(), right_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Truth left = truth(left_->evaluate(evaluation, scratch));
    const Truth decided = op_ == Op::And ? Truth::False : Truth::True;
    if (op_ != Op::Xor && left == decided) {
      set_truth(scratch, decided);
      return scratch;
    }
    const Truth right = truth(right_->evaluate(evaluation, scratch));
    set_truth(scratch, combine(left, right));
    return scratch;
  }
  bool is_and() const { return op_ == Op::And; }
  const Expression& left() const { return *left_; }
  const Expression& right() const { return *right_; }

 private:
  Truth combine(Truth left, Truth right) const {
    const bool unknown = left == Truth::Unknown || right == Truth::Unknown;
    if (op_ == Op::Xor) return unknown ? Truth::Unknown : left != right ? Truth::True : Truth::False;
    const Truth decided = op_ == Op::And ? Truth::False : Truth::True;
    if (right == decided) return decided;
    return unknown ? Truth::Unknown : op_ == Op::And ? Truth::True : Truth::False;
  }
  Op op_;
  ExpressionPtr left_, right_;
};

class Not : public Predicate {
 public:
  explicit Not(ExpressionPtr operand) : operand_(std::move(operand)) { inherit(*this, {operand_.get()}); }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Truth t = truth(operand_->evaluate(evaluation, scratch));
    set_truth(scratch, t, true);
    return scratch;
  }

 private:
  ExpressionPtr operand_;
};

class IsNull : public Predicate {
 public:
  IsNull(ExpressionPtr operand, bool negated) : operand_(std::move(operand)), negated_(negated) {
    inherit(*this, {operand_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const bool null = operand_->evaluate(evaluation, scratch).is_null();
    scratch = Value::integer(null != negated_);
    return scratch;
  }
  const Expression* operand() const { return negated_ ? nullptr : operand_.get(); }

 private:
  ExpressionPtr operand_;
  bool negated_;
};

class TruthTest : public Predicate {
 public:
  TruthTest(ExpressionPtr operand, bool expected, bool negated)
      : operand_(std::move(operand)), expected_(expected), negated_(negated) {
    inherit(*this, {operand_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Truth t = truth(operand_->evaluate(evaluation, scratch));
    scratch = Value::integer((t == (expected_ ? Truth::True : Truth::False)) != negated_);
    return scratch;
  }

 private:
  ExpressionPtr operand_;
  bool expected_, negated_;
};

class Between : public Predicate {
 public:
  Between(ExpressionPtr operand, ExpressionPtr low, ExpressionPtr high, bool negated)
      : operand_(std::move(operand)),
        low_(std::move(low)),
        high_(std::move(high)),
        negated_(negated),
        collation_(CommonCollation({operand_.get(), low_.get(), high_.get()}).collation()) {
    inherit(*this, {operand_.get(), low_.get(), high_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch, bound_scratch;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    if (operand.is_null()) {
      scratch = Value::null();
      return scratch;
    }
    Truth low = Truth::Unknown, high = Truth::Unknown;
    const Value& least = low_->evaluate(evaluation, bound_scratch);
    if (!least.is_null()) {
      low = compare_values(operand, least, collation_) >= 0 ? Truth::True : Truth::False;
    }
    const Value& greatest = high_->evaluate(evaluation, bound_scratch);
    if (!greatest.is_null()) {
      high = compare_values(operand, greatest, collation_) <= 0 ? Truth::True : Truth::False;
    }
    const Truth both = low == Truth::False || high == Truth::False ? Truth::False
                       : low == Truth::True && high == Truth::True ? Truth::True
                                                                   : Truth::Unknown;
    set_truth(scratch, both, negated_);
    return scratch;
  }
  std::optional<BetweenParts> parts() const {
    if (negated_) return std::nullopt;
    return BetweenParts{operand_.get(), low_.get(), high_.get(), collation_};
  }

 private:
  ExpressionPtr operand_, low_, high_;
  bool negated_;
  uint16_t collation_;
};

class In : public Predicate {
 public:
  In(ExpressionPtr operand, Expressions list, bool negated)
      : operand_(std::move(operand)), list_(std::move(list)), negated_(negated) {
    inherit(*this, {operand_.get()});
    CommonCollation common({operand_.get()});
    for (const ExpressionPtr& item : list_) {
      inherit(*this, {item.get()});
      common.add(*item);
    }
    collation_ = common.collation();
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch, item_scratch;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    Truth found = operand.is_null() && !list_.empty() ? Truth::Unknown : Truth::False;
    for (size_t i = 0; i < list_.size() && !operand.is_null(); ++i) {
      const Value& item = list_[i]->evaluate(evaluation, item_scratch);
      if (item.is_null()) {
        found = Truth::Unknown;
      } else if (compare_values(operand, item, collation_) == 0) {
        found = Truth::True;
        break;
      }
    }
    set_truth(scratch, found, negated_);
    return scratch;
  }
  std::optional<InParts> parts() const {
    if (negated_) return std::nullopt;
    return InParts{operand_.get(), &list_, collation_};
  }

 private:
  ExpressionPtr operand_;
  Expressions list_;
  bool negated_;
  uint16_t collation_;
};

}  // namespace

ExpressionPtr make_comparison(Op op, ExpressionPtr left, ExpressionPtr right) {
  // TRUE beside a document is JSON's true, not its number 1.
  if (left->type().type == FieldType::Json && right->type().is_boolean)
    right = make_json_cast(std::move(right));
  if (right->type().type == FieldType::Json && left->type().is_boolean)
    left = make_json_cast(std::move(left));
  if (is_number(right->type())) left = number_of_label(std::move(left));
  if (is_number(left->type())) right = number_of_label(std::move(right));
  if (is_number(right->type())) left = numeric_text(std::move(left));
  if (is_number(left->type())) right = numeric_text(std::move(right));
  right = time_beside_date(constant_beside(std::move(right), *left), *left);
  left = time_beside_date(constant_beside(std::move(left), *right), *right);
  right = text_beside_text(std::move(right), *left);
  left = text_beside_text(std::move(left), *right);
  return std::make_unique<Comparison>(op, std::move(left), std::move(right));
}
ExpressionPtr make_logic(Op op, ExpressionPtr left, ExpressionPtr right) {
  return std::make_unique<Logic>(op, number_behind_text(std::move(left)),
                                 number_behind_text(std::move(right)));
}
ExpressionPtr make_not(ExpressionPtr operand) {
  return std::make_unique<Not>(number_behind_text(std::move(operand)));
}
ExpressionPtr make_is_null(ExpressionPtr operand, bool negated) {
  return std::make_unique<IsNull>(std::move(operand), negated);
}
ExpressionPtr make_truth_test(ExpressionPtr operand, bool expected, bool negated) {
  return std::make_unique<TruthTest>(number_behind_text(std::move(operand)), expected, negated);
}
namespace {

// A TIME is one of today beside a date, and beside nothing else.
bool is_compared_in_two_ways(const Expression& operand, const Expressions& list) {
  const auto is_date = [](const ExpressionPtr& item) {
    return item->type().is_temporal() && !is_time(item->type());
  };
  return is_time(operand.type()) && std::ranges::any_of(list, is_date) && !std::ranges::all_of(list, is_date);
}

// Numbers, and perhaps NULLs.
bool are_numbers(std::initializer_list<const Expression*> expressions) {
  const auto is_null = [](const Expression* e) { return e->type().type == FieldType::Null; };
  return std::all_of(expressions.begin(), expressions.end(),
                     [&](const Expression* e) { return is_null(e) || is_number(e->type()); }) &&
         !std::all_of(expressions.begin(), expressions.end(), is_null);
}

}  // namespace

namespace {

bool is_date(const Expression& expression) {
  return expression.type().is_temporal() && !is_time(expression.type());
}

// A text that is compared with a number and with another text is a number for both.
bool has_texts_and_numbers(const Expression& operand, const Expression& low, const Expression& high) {
  const auto is_text = [](const Expression& e) {
    return e.type().is_string() && e.type().type != FieldType::Json;
  };
  return is_text(operand) &&
         ((is_number(low.type()) && is_text(high)) || (is_text(low) && is_number(high.type())));
}

}  // namespace

ExpressionPtr make_between(ExpressionPtr operand, ExpressionPtr low, ExpressionPtr high, bool negated) {
  if (has_texts_and_numbers(*operand, *low, *high)) {
    Expressions all;
    for (ExpressionPtr* one : {&operand, &low, &high}) all.push_back(number_of_label(std::move(*one)));
    numbers_beside_numbers(all);
    return std::make_unique<Between>(std::move(all[0]), std::move(all[1]), std::move(all[2]), negated);
  }
  if (is_date(*low)) {
    operand = constant_beside(std::move(operand), *low);
    high = constant_beside(std::move(high), *low);
  }
  if (is_date(*high)) {
    operand = constant_beside(std::move(operand), *high);
    low = constant_beside(std::move(low), *high);
  }
  if (are_numbers({low.get(), high.get()})) operand = numeric_text(number_of_label(std::move(operand)));
  if (is_number(operand->type())) {
    low = numeric_text(number_of_label(std::move(low)));
    high = numeric_text(number_of_label(std::move(high)));
  }
  operand = time_beside_date(time_beside_date(std::move(operand), *low), *high);
  low = time_beside_date(constant_beside(std::move(low), *operand), *operand);
  high = time_beside_date(constant_beside(std::move(high), *operand), *operand);
  low = text_beside_text(std::move(low), *operand);
  high = text_beside_text(std::move(high), *operand);
  return std::make_unique<Between>(std::move(operand), std::move(low), std::move(high), negated);
}
namespace {

// One expression for several others.
class SharedOperand : public Expression {
 public:
  explicit SharedOperand(std::shared_ptr<const Expression> operand) : operand_(std::move(operand)) {
    type_ = operand_->type();
    inherit(*this, {operand_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    return operand_->evaluate(evaluation, scratch);
  }
  bool is_constant() const override { return operand_->is_constant(); }
  const ColumnDef* labels() const override { return operand_->labels(); }

 private:
  std::shared_ptr<const Expression> operand_;
};

// x IN (1, 'a'), where x is a number beside the one and a text beside the other.
ExpressionPtr any_equal(const std::shared_ptr<const Expression>& operand, Expressions list, bool negated) {
  ExpressionPtr any;
  for (ExpressionPtr& item : list) {
    ExpressionPtr own = operand->copy();
    if (own == nullptr) own = std::make_unique<SharedOperand>(operand);
    ExpressionPtr equal = make_comparison(Op::Equal, std::move(own), std::move(item));
    any = any ? make_logic(Op::Or, std::move(any), std::move(equal)) : std::move(equal);
  }
  return negated ? make_not(std::move(any)) : std::move(any);
}

}  // namespace

ExpressionPtr make_in(ExpressionPtr operand, Expressions list, bool negated) {
  const bool any_number =
      std::any_of(list.begin(), list.end(), [](const auto& item) { return is_number(item->type()); });
  const bool numbers = any_number && std::all_of(list.begin(), list.end(), [](const ExpressionPtr& item) {
                         return is_number(item->type()) || item->type().type == FieldType::Null;
                       });
  if ((any_number && !numbers && operand->labels() != nullptr) || is_compared_in_two_ways(*operand, list))
    return any_equal(std::move(operand), std::move(list), negated);
  if (numbers) operand = numeric_text(number_of_label(std::move(operand)));
  if (is_number(operand->type())) {
    for (ExpressionPtr& item : list) item = numeric_text(number_of_label(std::move(item)));
  }
  for (const ExpressionPtr& item : list) operand = time_beside_date(std::move(operand), *item);
  for (ExpressionPtr& item : list) {
    item = text_beside_text(constant_beside(std::move(item), *operand), *operand);
    item = time_beside_date(std::move(item), *operand);
  }
  return std::make_unique<In>(std::move(operand), std::move(list), negated);
}

std::optional<ComparisonParts> comparison_parts(const Expression& expression) {
  const auto* comparison = dynamic_cast<const Comparison*>(&expression);
  return comparison == nullptr ? std::nullopt : std::optional(comparison->parts());
}
std::optional<InParts> in_parts(const Expression& expression) {
  const auto* in = dynamic_cast<const In*>(&expression);
  return in == nullptr ? std::nullopt : in->parts();
}
std::optional<BetweenParts> between_parts(const Expression& expression) {
  const auto* between = dynamic_cast<const Between*>(&expression);
  return between == nullptr ? std::nullopt : between->parts();
}
const Expression* is_null_operand(const Expression& expression) {
  const auto* is_null = dynamic_cast<const IsNull*>(&expression);
  return is_null == nullptr ? nullptr : is_null->operand();
}

void split_conjunction(const Expression& expression, std::vector<const Expression*>& conjuncts) {
  const auto* logic = dynamic_cast<const Logic*>(&expression);
  if (logic == nullptr || !logic->is_and()) {
    conjuncts.push_back(&expression);
    return;
  }
  split_conjunction(logic->left(), conjuncts);
  split_conjunction(logic->right(), conjuncts);
}

}  // namespace commitd::sql

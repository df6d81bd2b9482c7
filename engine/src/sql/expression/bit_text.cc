#include "sql/expression/bit_text.h"

#include <algorithm>

#include "base/charset/collation.h"
#include "sql/expression/conversion.h"
#include "sql/expression/number_texts.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

class BitText : public OneOperand {
 public:
  explicit BitText(ExpressionPtr operand)
      : OneOperand(std::move(operand)), size_((operand_->type().length + 7) / 8) {
    type_ = ValueType::text(size_, kBinaryCollation);
    type_.strength = operand_->type().strength;
    type_.nullable = operand_->type().nullable;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.is_null() || value.kind() == Value::Kind::String) return value;
    std::string bytes(size_, 0);
    uint64_t bits = to_bits(value);
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte, bits >>= 8)
      *byte = static_cast<char>(bits);
    scratch = Value::string(std::move(bytes), true);
    return scratch;
  }

 private:
  uint32_t size_;
};

// As it is shown: with the digits that its type announces.
class NumberText : public OneOperand {
 public:
  explicit NumberText(ExpressionPtr operand) : OneOperand(std::move(operand)) {
    constexpr uint32_t kSignAndPoint = 2;  // of a DECIMAL; other numbers count them
    const ValueType& number = operand_->type();
    type_ = ValueType::text(number.length + (number.type == FieldType::NewDecimal ? kSignAndPoint : 0));
    type_.strength = operand_->type().strength;
    type_.nullable = operand_->type().nullable;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (!value.is_null())
      scratch = Value::string(to_text(value, operand_->type()));
    else
      scratch = Value::null();
    return scratch;
  }
};

}  // namespace

ExpressionPtr text_of_bits(ExpressionPtr expression) {
  const ValueType& type = expression->type();
  constexpr uint8_t kAsManyAsNeeded = 31;
  const bool is_real = type.type == FieldType::Double || type.type == FieldType::Float;
  const bool has_fixed_digits = type.type == FieldType::Year || (is_real && type.decimals < kAsManyAsNeeded);
  if (has_fixed_digits) return std::make_unique<NumberText>(std::move(expression));
  if (type.type != FieldType::Bit) return expression;
  return std::make_unique<BitText>(std::move(expression));
}

void numbers_beside_texts(Expressions& expressions) {
  const auto is_text = [](const ExpressionPtr& expression) {
    return expression->type().is_string() && expression->type().type != FieldType::Json;
  };
  const auto is_text_or_number = [&](const ExpressionPtr& expression) {
    return is_text(expression) || is_number(expression->type()) || expression->type().type == FieldType::Null;
  };
  if (std::ranges::none_of(expressions, is_text) || !std::ranges::all_of(expressions, is_text_or_number))
    return;
  for (ExpressionPtr& expression : expressions) {
    if (!is_number(expression->type())) continue;
    const bool has_text =
        expression->type().type == FieldType::Bit || expression->type().type == FieldType::Year;
    expression =
        has_text ? text_of_bits(std::move(expression)) : std::make_unique<NumberText>(std::move(expression));
  }
}

}  // namespace commitd::sql

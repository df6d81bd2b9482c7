#include "sql/expression/bit_text.h"

#include "base/charset/collation.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"

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

class YearText : public OneOperand {
 public:
  explicit YearText(ExpressionPtr operand) : OneOperand(std::move(operand)) {
    type_ = ValueType::text(4);
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
  if (expression->type().type == FieldType::Year) return std::make_unique<YearText>(std::move(expression));
  if (expression->type().type != FieldType::Bit) return expression;
  return std::make_unique<BitText>(std::move(expression));
}

}  // namespace commitd::sql

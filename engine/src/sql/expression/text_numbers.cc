// Texts where a number is wanted: they count as the number that they begin with, and one that is more than
// that is told about (1292).
#include <algorithm>

#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

constexpr std::string_view kInteger = "INTEGER";

bool is_wholly_a_number(const Value& value, std::string_view type) {
  bool complete = false;
  if (type == kInteger)
    leading_integer(value.as_string(), &complete);
  else
    leading_double(value.as_string(), &complete);
  return complete;
}

// As messages show it: bytes that are no text by their numbers.
std::string shown(const Value& value) {
  const std::string& text = value.as_string();
  if (valid_utf8_prefix(text) == text.size()) return text;
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80)
      escaped.push_back(c);
    else
      fmt::format_to(std::back_inserter(escaped), "\\x{:02X}", byte);
  }
  return escaped;
}

class NumericText : public OneOperand {
 public:
  NumericText(ExpressionPtr operand, std::string_view type)
      : OneOperand(std::move(operand)), type_name_(type) {
    type_ = operand_->type();
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.kind() == Value::Kind::String && !is_wholly_a_number(value, type_name_)) {
      evaluation.warn(make_error(er::kTruncatedWrongValue, "Truncated incorrect {} value: '{}'", type_name_,
                                 shown(value)));
    }
    return value;
  }
  bool is_constant() const override { return operand_->is_constant(); }

 private:
  std::string_view type_name_;
};

class RealNumber : public OneOperand {
 public:
  explicit RealNumber(ExpressionPtr operand) : OneOperand(std::move(operand)) { type_ = ValueType::real(); }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value& value = operand_->evaluate(evaluation, operand_scratch);
    scratch = value.is_null() ? Value::null() : Value::real(to_double(value));
    return scratch;
  }
  bool is_constant() const override { return operand_->is_constant(); }
};

}  // namespace

void numbers_beside_numbers(Expressions& expressions) {
  const auto is_a_number = [](const ExpressionPtr& expression) { return is_number(expression->type()); };
  if (std::none_of(expressions.begin(), expressions.end(), is_a_number)) return;
  for (ExpressionPtr& expression : expressions) {
    if (expression->type().type != FieldType::Null && !is_a_number(expression))
      expression = std::make_unique<RealNumber>(numeric_text(std::move(expression)));
  }
}

ExpressionPtr numeric_text(ExpressionPtr expression, std::string_view type) {
  if (!expression->type().is_string()) return expression;
  expression = number_behind_text(std::move(expression));
  const auto* constant = dynamic_cast<const Constant*>(expression.get());
  if (constant != nullptr && constant->value().kind() == Value::Kind::String &&
      is_wholly_a_number(constant->value(), type))
    return expression;
  return std::make_unique<NumericText>(std::move(expression), type);
}

void Evaluation::warn(Error error) {
  if (strict_)
    fail(std::move(error));
  else
    session_.diagnostics.warn(std::move(error));
}

}  // namespace commitd::sql

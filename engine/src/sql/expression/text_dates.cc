// Texts where a date is wanted: they count as the date and time that they begin with, and one that is more
// than that, or none, is told about (1292).
#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/times_and_dates.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

// What of a text may be a date and time: digits, and what stands between them.
std::string_view date_prefix(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t end = text.find_first_not_of("0123456789:.-/ T", text.find_first_not_of(' '));
  end = std::min(end, text.size());
  while (end > 0 && !is_digit(text[end - 1])) --end;
  return text.substr(0, end);
}

class DateOfText : public OneOperand {
 public:
  explicit DateOfText(ExpressionPtr operand) : OneOperand(std::move(operand)) {
    type_ = ValueType::datetime(second_digits(*operand_));
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.kind() != Value::Kind::String) return value;
    const auto date = date_of_text(value.as_string(), evaluation);
    scratch = date ? Value::temporal(*date) : Value::null();
    return scratch;
  }
  bool is_constant() const override { return operand_->is_constant(); }
};

}  // namespace

std::optional<Temporal> date_of_text(const std::string& text, Evaluation& evaluation) {
  if (auto date = parse_datetime(text)) return date;
  auto date = parse_datetime(date_prefix(text));
  evaluation.warn(make_error(er::kTruncatedWrongValue, "{} datetime value: '{}'",
                             date ? "Truncated incorrect" : "Incorrect", text));
  return date;
}

ExpressionPtr dated_text(ExpressionPtr expression) {
  if (!expression->type().is_string()) return expression;
  return std::make_unique<DateOfText>(std::move(expression));
}

}  // namespace commitd::sql

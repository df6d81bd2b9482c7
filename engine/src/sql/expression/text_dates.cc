// What is a date where one is wanted. Texts count as the date and time that they begin with, and one that is
// more than that, or none, is told about (1292). The number 0 is the zero date.
#include "base/date_text.h"
#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/beginnings.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "sql/expression/store/kinds.h"
#include "sql/expression/times_and_dates.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

// What of a text may be a time: digits, and what stands between them.
std::string_view time_prefix(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t end = text.find_first_not_of("0123456789:.-/ T", text.find_first_not_of(' '));
  end = std::min(end, text.size());
  while (end > 0 && !is_digit(text[end - 1])) --end;
  return text.substr(0, end);
}

bool has_zero_part(const Temporal& t) {
  return t.month == 0 || t.day == 0;
}

std::optional<Temporal> parse_with_zero_parts(std::string_view text) {
  auto date = parse_datetime(text);
  return date ? date : store::with_zero_parts(text);
}

bool is_number_of_date(const ValueType& type) {
  return is_number(type) && type.type != FieldType::Year && type.type != FieldType::Bit;
}

std::optional<Temporal> date_or_zero(const Value& number, Evaluation& evaluation, ZeroParts zero_parts) {
  auto date = to_double(number) == 0 ? std::optional(Temporal()) : date_of_number(number);
  if (date && zero_parts == ZeroParts::AreNone && has_zero_part(*date)) date.reset();
  if (!date)
    evaluation.warn(make_error(er::kTruncatedWrongValue, "Incorrect datetime value: '{}'", to_text(number)));
  return date;
}

class WantedDate : public OneOperand {
 public:
  WantedDate(ExpressionPtr operand, ZeroParts zero_parts)
      : OneOperand(std::move(operand)), zero_parts_(zero_parts) {
    type_ = operand_->type();
    if (type_.is_string() || is_number_of_date(type_)) type_ = ValueType::datetime(second_digits(*operand_));
    type_.nullable = true;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.kind() == Value::Kind::String) {
      const auto date = date_of_text(value.as_string(), evaluation, zero_parts_);
      scratch = date ? Value::temporal(*date) : Value::null();
      return scratch;
    }
    if (is_number_of_date(operand_->type()) && !value.is_null()) {
      const auto date = date_or_zero(value, evaluation, zero_parts_);
      scratch = date ? Value::temporal(*date) : Value::null();
      return scratch;
    }
    const bool is_date =
        value.kind() == Value::Kind::Temporal && value.as_temporal().kind != Temporal::Kind::Time;
    if (!is_date || zero_parts_ == ZeroParts::AreTaken || !has_zero_part(value.as_temporal())) return value;
    scratch = Value::null();
    return scratch;
  }
  bool is_constant() const override { return operand_->is_constant(); }

 private:
  ZeroParts zero_parts_;
};

}  // namespace

std::optional<Temporal> date_at_beginning(const std::string& text) {
  const auto date = read_date_text(text);
  return date ? std::optional(date->value) : std::nullopt;
}

std::optional<Temporal> time_at_beginning(const std::string& text) {
  const std::string_view beginning = time_prefix(text);
  return beginning.empty() ? std::nullopt : parse_time(beginning);
}

std::optional<Temporal> date_of_text(const std::string& text, Evaluation& evaluation, ZeroParts zero_parts) {
  auto date = parse_with_zero_parts(text);
  const bool whole = date.has_value();
  if (!whole) date = date_at_beginning(text);
  if (date && zero_parts == ZeroParts::AreNone && has_zero_part(*date)) date.reset();
  if (date && whole) return date;
  evaluation.warn(make_error(er::kTruncatedWrongValue, "{} datetime value: '{}'",
                             date ? "Truncated incorrect" : "Incorrect", text));
  return date;
}

std::optional<Temporal> clock_wanted(const Value& value, Evaluation& evaluation) {
  constexpr uint32_t kMostHours = 838;
  auto clock = to_clock(value);
  if (clock && clock->hour == kMostHours && value.kind() != Value::Kind::Temporal && !to_time(value))
    evaluation.warn(
        make_error(er::kTruncatedWrongValue, "Truncated incorrect time value: '{}'", to_text(value)));
  return clock;
}

Temporal time_on_day(const Temporal& time, int64_t local_seconds) {
  constexpr int64_t kDay = 86'400;
  constexpr int64_t kSecond = 1'000'000;
  const int64_t seconds = time.hour * 3600ll + time.minute * 60 + time.second;
  const int64_t fraction = time.negative ? -int64_t{time.microsecond} : int64_t{time.microsecond};
  const int64_t whole =
      local_seconds - local_seconds % kDay + (time.negative ? -seconds : seconds) - (fraction < 0 ? 1 : 0);
  return datetime_from_unix(whole, static_cast<uint32_t>(fraction < 0 ? fraction + kSecond : fraction),
                            time.decimals);
}

ExpressionPtr date_wanted(ExpressionPtr expression, ZeroParts zero_parts) {
  const ValueType& type = expression->type();
  if (is_time(type)) return time_of_today(std::move(expression));
  const bool may_have_zero_parts = type.is_temporal() && zero_parts == ZeroParts::AreNone;
  if (!type.is_string() && !is_number_of_date(type) && !may_have_zero_parts) return expression;
  return std::make_unique<WantedDate>(std::move(expression), zero_parts);
}

}  // namespace commitd::sql

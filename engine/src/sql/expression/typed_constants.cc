// Constants beside a column of another kind: MySQL reads them as the column's kind once, and compares those.
#include <cmath>

#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/beginnings.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "sql/expression/store/kinds.h"
#include "sql/expression/times_and_dates.h"

namespace commitd::sql {
namespace {

bool is_date(const ValueType& type) {
  return type.is_temporal() && !is_time(type);
}

bool has_range_of_integers(const ValueType& type) {
  return type.is_integer() && type.type != FieldType::Year && type.type != FieldType::Bit;
}

std::optional<Temporal> date_of_text(const std::string& text) {
  const auto found = parse_datetime(text);
  return found ? found : store::with_zero_parts(text);
}

class DateConstant : public OneOperand {
 public:
  DateConstant(ExpressionPtr operand, bool date_only)
      : OneOperand(std::move(operand)), date_only_(date_only) {
    type_ = operand_->type();
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    scratch = operand_->evaluate(evaluation, operand_scratch);
    if (const auto date = date_of(scratch)) {
      scratch = Value::temporal(*date);
    } else if (scratch.kind() == Value::Kind::String) {
      const std::string_view type = date_only_ ? "DATE" : "DATETIME";
      if (const auto beginning = date_at_beginning(scratch.as_string())) {
        evaluation.warn(make_error(er::kTruncatedWrongValue, "Truncated incorrect {} value: '{}'", type,
                                   scratch.as_string()));
        scratch = Value::temporal(*beginning);
        return scratch;
      }
      evaluation.fail(make_error(er::kWrongValue, "Incorrect {} value: '{}'", type, scratch.as_string()));
      scratch = Value::null();
    }
    return scratch;
  }
  bool is_constant() const override { return true; }

  static std::optional<Temporal> date_of(const Value& value) {
    if (value.kind() == Value::Kind::String) return date_of_text(value.as_string());
    if (value.kind() == Value::Kind::Double || value.kind() == Value::Kind::Decimal) {
      const double number = to_double(value);
      return number == std::floor(number) ? date_of_number(to_integer(value)) : std::nullopt;
    }
    const bool integer = value.kind() == Value::Kind::Int || value.kind() == Value::Kind::UInt;
    return integer ? date_of_number(value) : std::nullopt;
  }

 private:
  bool date_only_;
};

class IntegerConstant : public OneOperand {
 public:
  explicit IntegerConstant(ExpressionPtr operand) : OneOperand(std::move(operand)) {
    type_ = operand_->type();
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.kind() != Value::Kind::String) return value;
    if (auto integer = whole_integer(value.as_string())) {
      scratch = *std::move(integer);
      return scratch;
    }
    return value;
  }
  bool is_constant() const override { return true; }
};

// Beside a YEAR a date is its year.
class YearOfDate : public OneOperand {
 public:
  explicit YearOfDate(ExpressionPtr operand) : OneOperand(std::move(operand)) {
    type_ = ValueType::integer(4);
    type_.nullable = operand_->type().nullable;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.kind() == Value::Kind::Temporal) scratch = Value::integer(value.as_temporal().year);
    return value.is_null() ? value : scratch;
  }
  bool is_constant() const override { return true; }
};

const Value* literal_of(const Expression& expression) {
  const auto* constant = dynamic_cast<const Constant*>(&expression);
  return constant == nullptr ? nullptr : &constant->value();
}

ExpressionPtr date_constant(ExpressionPtr constant, bool date_only) {
  if (const Value* literal = literal_of(*constant)) {
    if (const auto date = DateConstant::date_of(*literal))
      return std::make_unique<Constant>(Value::temporal(*date));
    if (literal->kind() != Value::Kind::String) return constant;
  }
  return std::make_unique<DateConstant>(std::move(constant), date_only);
}

ExpressionPtr integer_constant(ExpressionPtr constant) {
  const Value* literal = literal_of(*constant);
  if (literal == nullptr) return std::make_unique<IntegerConstant>(std::move(constant));
  auto integer = whole_integer(literal->as_string());
  return integer ? std::make_unique<Constant>(*std::move(integer)) : std::move(constant);
}

// Of one or two digits. The number 0 is the year 0000, the text '0' the year 2000.
ExpressionPtr year_constant(ExpressionPtr constant) {
  constexpr int64_t kFirstOf1900s = 70, kFourDigits = 100;
  const Value* literal = literal_of(*constant);
  if (literal == nullptr) return constant;
  const bool is_text = literal->kind() == Value::Kind::String;
  const auto number = is_text ? whole_integer(literal->as_string()) : std::optional(*literal);
  if (!number || (number->kind() != Value::Kind::Int && number->kind() != Value::Kind::UInt)) return constant;
  constexpr size_t kShort = 2;
  const int64_t least = is_text && literal->as_string().size() <= kShort ? 0 : 1;
  const int64_t year = to_int64(*number);
  if (year < least || year >= kFourDigits) return constant;
  return std::make_unique<Constant>(Value::integer(year + (year < kFirstOf1900s ? 2000 : 1900)));
}

}  // namespace

bool is_time(const ValueType& type) {
  return type.type == FieldType::Time || type.type == FieldType::Time2;
}

ExpressionPtr time_beside_date(ExpressionPtr expression, const Expression& other) {
  return is_time(expression->type()) && is_date(other.type()) ? time_of_today(std::move(expression))
                                                              : std::move(expression);
}

ExpressionPtr constant_beside(ExpressionPtr constant, const Expression& other) {
  if (!constant->is_constant()) return constant;
  const bool is_text = constant->type().is_string();
  const ValueType& type = other.type();
  if (is_date(type) && !other.is_constant() && (is_text || is_number(constant->type())))
    return date_constant(std::move(constant), type.type == FieldType::Date);
  const bool is_column = dynamic_cast<const ColumnReference*>(&other) != nullptr;
  if (is_column && type.type == FieldType::Year && is_date(constant->type()))
    return std::make_unique<YearOfDate>(std::move(constant));
  if (is_column && type.type == FieldType::Year) return year_constant(std::move(constant));
  if (is_text && is_column && has_range_of_integers(type)) return integer_constant(std::move(constant));
  return constant;
}

}  // namespace commitd::sql

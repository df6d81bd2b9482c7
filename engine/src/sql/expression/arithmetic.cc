// Arithmetic and bit operations.
#include <cmath>
#include <cstdlib>

#include "base/decimal.h"
#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using ast::Op;
using Kind = Value::Kind;

constexpr uint8_t kDivisionScale = 4;  // div_precision_increment

bool is_integer(const Value& v) {
  return v.kind() == Kind::Int || v.kind() == Kind::UInt;
}
bool is_exact(const Value& v) {
  return is_integer(v) || v.kind() == Kind::Decimal;
}

__int128 wide(const Value& v) {
  return v.kind() == Kind::UInt ? static_cast<__int128>(v.as_uint()) : v.as_int();
}

// A temporal value in arithmetic is the number 20260102030405.
Value operand_number(const Value& v) {
  if (v.kind() == Kind::Temporal)
    return v.as_temporal().decimals > 0 ? Value::decimal(temporal_decimal(v.as_temporal())) : to_integer(v);
  if (v.kind() == Kind::String || v.kind() == Kind::Json) return Value::real(to_double(v));
  return v;
}

Value out_of_range(Evaluation& evaluation, std::string_view kind, std::string_view source) {
  evaluation.fail(make_error(er::kDataOutOfRange, "{} value is out of range in '({})'", kind, source));
  return Value::null();
}

Value division_by_zero(Evaluation& evaluation) {
  if (evaluation.session().settings.sql_mode & sql_mode::kErrorForDivisionByZero) {
    evaluation.warn(make_error(er::kDivisionByZero, "Division by 0"));
  }
  return Value::null();
}

Value integer_result(__int128 result, bool is_unsigned, Evaluation& evaluation, std::string_view source) {
  if (is_unsigned) {
    if (result < 0 || result > UINT64_MAX) return out_of_range(evaluation, "BIGINT UNSIGNED", source);
    return Value::unsigned_integer(static_cast<uint64_t>(result));
  }
  if (result < INT64_MIN || result > INT64_MAX) return out_of_range(evaluation, "BIGINT", source);
  return Value::integer(static_cast<int64_t>(result));
}

Value integer_arithmetic(Op op, const Value& left, const Value& right, Evaluation& evaluation,
                         std::string_view source) {
  const bool is_unsigned = left.kind() == Kind::UInt || right.kind() == Kind::UInt;
  const __int128 l = wide(left), r = wide(right);
  switch (op) {
    case Op::Add:
      return integer_result(l + r, is_unsigned, evaluation, source);
    case Op::Subtract: {
      const bool keep =
          is_unsigned && !(evaluation.session().settings.sql_mode & sql_mode::kNoUnsignedSubtraction);
      return integer_result(l - r, keep, evaluation, source);
    }
    case Op::Multiply:
      return integer_result(l * r, is_unsigned, evaluation, source);
    case Op::IntDivide:
      return r == 0 ? division_by_zero(evaluation) : integer_result(l / r, is_unsigned, evaluation, source);
    default:
      return r == 0 ? division_by_zero(evaluation)
                    : integer_result(l % r, left.kind() == Kind::UInt, evaluation, source);
  }
}

constexpr __int128 largest_decimal() {
  __int128 value = 1;
  for (int i = 0; i < kMaxDecimalPrecision; ++i) value *= 10;
  return value - 1;
}

// Digits behind the point that MySQL's decimal division computes: whole words of nine, so that a result that
// is computed with further has more digits than one that is shown.
uint8_t division_scale(uint8_t left, uint8_t right) {
  auto words = [](int digits) { return (digits + 8) / 9 * 9; };
  const int more = std::max(kDivisionScale - (words(left) - left + words(right) - right), 0);
  return static_cast<uint8_t>(std::min<int>(words(words(left) + words(right) + more), kMaxDecimalScale));
}

// Digit by digit, where the numerator with its zeros would not fit: nullopt where the quotient does not
// either.
std::optional<Decimal> long_division(const Decimal& l, const Decimal& r, uint8_t scale) {
  using Wide = unsigned __int128;
  const auto magnitude = [](__int128 v) { return v < 0 ? -static_cast<Wide>(v) : static_cast<Wide>(v); };
  const Wide divisor = magnitude(r.unscaled);
  Wide quotient = magnitude(l.unscaled) / divisor, rest = magnitude(l.unscaled) % divisor;
  for (int digits = scale - l.scale + r.scale; digits > 0; --digits) {
    Wide tenfold = 0;
    unsigned digit = 0;
    for (int i = 0; i < 10; ++i) {  // neither 10 * rest nor more than twice the divisor
      tenfold += rest;
      if (tenfold < divisor) continue;
      tenfold -= divisor;
      ++digit;
    }
    if (quotient > static_cast<Wide>(largest_decimal()) / 10) return std::nullopt;
    quotient = quotient * 10 + digit;
    rest = tenfold;
  }
  if (quotient > static_cast<Wide>(largest_decimal())) return std::nullopt;
  const auto signed_quotient = static_cast<__int128>(quotient);
  return Decimal{(l.unscaled < 0) != (r.unscaled < 0) ? -signed_quotient : signed_quotient, scale};
}

Value decimal_division(const Decimal& l, const Decimal& r, Evaluation& evaluation, std::string_view source) {
  if (r.unscaled == 0) return division_by_zero(evaluation);
  const auto least = static_cast<uint8_t>(std::min<int>(l.scale + kDivisionScale, kMaxDecimalScale));
  uint8_t scale = std::max(division_scale(l.scale, r.scale), least);
  __int128 numerator = 0;
  for (;; scale = static_cast<uint8_t>(std::max<int>(least, scale - 9))) {
    const int shift = scale - l.scale + r.scale;
    const bool small =
        shift <= kMaxDecimalPrecision &&
        !__builtin_mul_overflow(l.unscaled, power_of_ten(static_cast<uint8_t>(shift)), &numerator);
    if (small) break;
    if (const auto quotient = long_division(l, r, scale)) return Value::decimal(*quotient);
    if (scale == least) return out_of_range(evaluation, "DECIMAL", source);
  }
  const __int128 quotient = numerator / r.unscaled;
  return Value::decimal({quotient, scale});
}

Value decimal_arithmetic(Op op, Decimal l, Decimal r, Evaluation& evaluation, std::string_view source) {
  if (op == Op::Divide) return decimal_division(l, r, evaluation, source);
  if (op == Op::Multiply) {
    __int128 product = 0;
    if (__builtin_mul_overflow(l.unscaled, r.unscaled, &product))
      return out_of_range(evaluation, "DECIMAL", source);
    Decimal result{product, static_cast<uint8_t>(l.scale + r.scale)};
    if (result.scale > kMaxDecimalScale) result = rescale(result, kMaxDecimalScale).value_or(Decimal{});
    return Value::decimal(result);
  }
  const uint8_t scale = std::max(l.scale, r.scale);
  const auto left = rescale(l, scale), right = rescale(r, scale);
  if (!left || !right) return out_of_range(evaluation, "DECIMAL", source);
  __int128 result = 0;
  switch (op) {
    case Op::Add:
      result = left->unscaled + right->unscaled;
      break;
    case Op::Subtract:
      result = left->unscaled - right->unscaled;
      break;
    default:
      if (right->unscaled == 0) return division_by_zero(evaluation);
      result = op == Op::IntDivide ? left->unscaled / right->unscaled : left->unscaled % right->unscaled;
  }
  if (result > largest_decimal() || result < -largest_decimal())
    return out_of_range(evaluation, "DECIMAL", source);
  if (op == Op::IntDivide) return integer_result(result, false, evaluation, source);
  return Value::decimal({result, scale});
}

Value real_arithmetic(Op op, double l, double r, Evaluation& evaluation, std::string_view source) {
  double result = 0;
  switch (op) {
    case Op::Add:
      result = l + r;
      break;
    case Op::Subtract:
      result = l - r;
      break;
    case Op::Multiply:
      result = l * r;
      break;
    default:
      if (r == 0) return division_by_zero(evaluation);
      result = op == Op::Modulo ? std::fmod(l, r) : l / r;
      if (op == Op::IntDivide) {
        constexpr double kBeyondIntegers = 1e20;
        if (std::fabs(result) >= kBeyondIntegers) return out_of_range(evaluation, "BIGINT", source);
        return integer_result(static_cast<__int128>(std::trunc(result)), false, evaluation, source);
      }
  }
  return std::isfinite(result) ? Value::real(result) : out_of_range(evaluation, "DOUBLE", source);
}

// A temporal value as the number that it is in arithmetic.
ValueType numeric_type(const ValueType& type) {
  if (!type.is_temporal()) return type;
  const uint32_t digits = type.type == FieldType::Date ? 8 : type.type == FieldType::Time ? 7 : 14;
  const uint8_t decimals = type.type == FieldType::Date ? uint8_t{0} : type.decimals;
  return decimals == 0 ? ValueType::integer(digits) : ValueType::decimal(digits + decimals, decimals);
}

ValueType arithmetic_type(Op op, const ValueType& left, const ValueType& right) {
  const ValueType l = numeric_type(left), r = numeric_type(right);
  if (op == Op::IntDivide) return ValueType::integer(21, l.is_unsigned || r.is_unsigned);
  const bool exact = (l.is_integer() || l.type == FieldType::NewDecimal) &&
                     (r.is_integer() || r.type == FieldType::NewDecimal);
  if (!exact) {
    ValueType real = ValueType::real();
    if (is_number(l) && is_number(r) && l.decimals < real.decimals && r.decimals < real.decimals) {
      const int more = op == Op::Divide ? kDivisionScale : 0;
      real.decimals = static_cast<uint8_t>(std::min(
          op == Op::Multiply ? l.decimals + r.decimals : std::max(l.decimals, r.decimals) + more, 31));
    }
    return real;
  }
  if (op == Op::Divide)
    return ValueType::decimal(std::min(l.length + kDivisionScale + 1, 65u),
                              static_cast<uint8_t>(l.decimals + kDivisionScale));
  if (l.is_integer() && r.is_integer()) return ValueType::integer(21, l.is_unsigned || r.is_unsigned);
  const uint8_t scale = op == Op::Multiply ? static_cast<uint8_t>(std::min(l.decimals + r.decimals, 30))
                                           : std::max(l.decimals, r.decimals);
  const uint32_t longer = op == Op::Modulo ? 0 : 2;
  return ValueType::decimal(std::min(std::max(l.length, r.length) + longer, 65u), scale);
}

class Arithmetic : public Expression {
 public:
  Arithmetic(Op op, ExpressionPtr left, ExpressionPtr right, std::string source)
      : op_(op), left_(std::move(left)), right_(std::move(right)), source_(std::move(source)) {
    inherit(*this, {left_.get(), right_.get()});
    type_ = arithmetic_type(op, left_->type(), right_->type());
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value left_scratch, right_scratch;
    const Value& left = left_->evaluate(evaluation, left_scratch);
    const Value& right = right_->evaluate(evaluation, right_scratch);
    scratch =
        left.is_null() || right.is_null() ? Value::null() : arithmetic(op_, left, right, evaluation, source_);
    return scratch;
  }

 private:
  Op op_;
  ExpressionPtr left_, right_;
  std::string source_;
};

class Negation : public OneOperand {
 public:
  explicit Negation(ExpressionPtr operand) : OneOperand(std::move(operand)) {
    const ValueType& type = operand_->type();
    type_ = type.is_integer() ? ValueType::integer(type.length + 1)
            : is_number(type) ? type
                              : ValueType::real();
    // A constant may be less than BIGINT holds, columns may not.
    constexpr uint32_t kDigitsOfAnyBigint = 18;
    if (type.is_unsigned && sources == 0 && type.length > kDigitsOfAnyBigint)
      type_ = ValueType::decimal(type.length, 0);
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    if (operand.is_null())
      scratch = Value::null();
    else if (operand.kind() == Kind::UInt && type_.type == FieldType::NewDecimal)
      scratch = Value::decimal({-static_cast<__int128>(operand.as_uint()), 0});
    else if (operand.kind() == Kind::UInt && operand.as_uint() == uint64_t{1} << 63)
      scratch = Value::integer(INT64_MIN);
    else if (operand.kind() == Kind::UInt && operand.as_uint() <= INT64_MAX)
      scratch = Value::integer(-static_cast<int64_t>(operand.as_uint()));
    else if (operand.kind() == Kind::UInt)
      scratch = out_of_range(evaluation, "BIGINT", "-");
    else
      scratch = arithmetic(Op::Subtract, Value::integer(0), operand, evaluation, "-");
    return scratch;
  }
};

class BitOperation : public Expression {
 public:
  BitOperation(Op op, ExpressionPtr left, ExpressionPtr right)
      : op_(op), left_(std::move(left)), right_(std::move(right)) {
    inherit(*this, {left_.get(), right_.get()});
    type_ = ValueType::integer(21, true);
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value left_scratch, right_scratch;
    const Value& left = left_->evaluate(evaluation, left_scratch);
    const Value& right = right_ ? right_->evaluate(evaluation, right_scratch) : left;
    scratch = left.is_null() || right.is_null()
                  ? Value::null()
                  : Value::unsigned_integer(apply(bit_operand(left), bit_operand(right)));
    return scratch;
  }

 private:
  uint64_t apply(uint64_t l, uint64_t r) const {
    switch (op_) {
      case Op::BitOr:
        return l | r;
      case Op::BitAnd:
        return l & r;
      case Op::BitXor:
        return l ^ r;
      case Op::ShiftLeft:
        return r > 63 ? 0 : l << r;
      case Op::ShiftRight:
        return r > 63 ? 0 : l >> r;
      default:
        return ~l;
    }
  }
  Op op_;
  ExpressionPtr left_, right_;
};

ExpressionPtr number_operand(ExpressionPtr expression, std::string_view type = "DOUBLE") {
  return numeric_text(number_of_label(std::move(expression)), type);
}

}  // namespace

Value arithmetic(Op op, const Value& left_value, const Value& right_value, Evaluation& evaluation,
                 std::string_view source) {
  const Value left = operand_number(left_value), right = operand_number(right_value);
  if (is_integer(left) && is_integer(right) && op != Op::Divide)
    return integer_arithmetic(op, left, right, evaluation, source);
  if (is_exact(left) && is_exact(right))
    return decimal_arithmetic(op, to_decimal(left), to_decimal(right), evaluation, source);
  return real_arithmetic(op, to_double(left), to_double(right), evaluation, source);
}

uint64_t bit_operand(const Value& v) {
  if (v.kind() != Kind::String) return to_bits(v);
  const std::string& text = v.as_string();
  const size_t sign = text.find_first_not_of(" \t\n\r");
  if (sign != std::string::npos && text[sign] == '-') return static_cast<uint64_t>(leading_integer(text));
  return std::strtoull(text.c_str(), nullptr, 10);
}

ExpressionPtr make_arithmetic(Op op, ExpressionPtr left, ExpressionPtr right, std::string source) {
  return std::make_unique<Arithmetic>(op, number_operand(std::move(left)), number_operand(std::move(right)),
                                      std::move(source));
}
ExpressionPtr make_negation(ExpressionPtr operand) {
  return std::make_unique<Negation>(number_operand(std::move(operand)));
}
ExpressionPtr make_bit_operation(Op op, ExpressionPtr left, ExpressionPtr right) {
  if (right) right = number_operand(std::move(right), "INTEGER");
  return std::make_unique<BitOperation>(op, number_operand(std::move(left), "INTEGER"), std::move(right));
}

}  // namespace commitd::sql

// CAST and COLLATE.
#include <cmath>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/decimal.h"
#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/bit_text.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/charset_conversion.h"
#include "sql/expression/conversion.h"
#include "sql/expression/json_value.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"
#include "sql/expression/times_and_dates.h"
#include "sql/functions/functions.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using Kind = Value::Kind;

class Cast : public OneOperand {
 public:
  Cast(ExpressionPtr operand, const ast::Expr& target)
      : OneOperand(std::move(operand)),
        to_(target.cast),
        length_(target.cast_length),
        decimals_(target.cast_decimals),
        has_length_(target.cast_has_length) {
    type_ = target_type();
    // As strong as a column, beside which it means bytes: LIKE BINARY.
    if (to_ == ast::CastType::Binary) type_.strength = ValueType::Strength::Column;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    scratch = operand.is_null() ? Value::null() : convert(operand, evaluation);
    return scratch;
  }

 private:
  ValueType target_type() const {
    using ast::CastType;
    switch (to_) {
      case CastType::Signed:
        return ValueType::integer();
      case CastType::Unsigned:
        return ValueType::integer(20, true);
      case CastType::Binary:
        return ValueType::text(has_length_ ? length_ : operand_->type().length, kBinaryCollation);
      case CastType::Decimal:
        return ValueType::decimal(length_, decimals_);
      case CastType::Double:
      case CastType::Float:
        return ValueType::real();
      case CastType::Date:
        return {FieldType::Date, 63, 10, 0, false, true, ValueType::Strength::Weak};
      case CastType::Time:
        return {FieldType::Time, 63, 10, decimals_, false, true, ValueType::Strength::Weak};
      case CastType::DateTime:
        return ValueType::datetime(decimals_);
      case CastType::Year:
        return {FieldType::Year, 63, 4, 0, true, true, ValueType::Strength::Weak};
      default:
        return ValueType::text(has_length_ ? length_ : std::max(operand_->type().length, 1u));
    }
  }
  Value text(const Value& operand, Evaluation& evaluation) const {
    const bool binary = to_ == ast::CastType::Binary;
    if (binary && has_length_ && length_ > max_allowed_packet(evaluation))
      return too_long(evaluation, "cast_as_binary");
    std::string value = to_text(operand, operand_->type());
    if (has_length_) {
      const std::string_view kept =
          binary ? std::string_view(value).substr(0, length_) : character_prefix(value, length_);
      if (kept.size() < value.size()) {
        evaluation.warn(make_error(er::kTruncatedWrongValue, "Truncated incorrect {}({}) value: '{}'",
                                   binary ? "BINARY" : "CHAR", length_, value));
      }
      value.resize(kept.size());
      if (binary) value.resize(length_, '\0');
    }
    return Value::string(std::move(value), binary);
  }
  Value temporal(const Value& operand, Evaluation& evaluation) const {
    const bool text = operand.kind() == Kind::String;
    std::optional<Temporal> t = to_ == ast::CastType::Time ? time_of(operand, evaluation)
                                : text ? date_of_text(operand.as_string(), evaluation, zero_parts(evaluation))
                                       : date_of(operand, evaluation);
    const bool told = text && to_ != ast::CastType::Time;
    if (!t && !told) {
      evaluation.warn(make_error(
          er::kTruncatedWrongValue, "{} value: '{}'",
          to_ == ast::CastType::Time ? "Truncated incorrect time" : "Incorrect datetime", to_text(operand)));
    }
    if (!t) return Value::null();
    if (to_ == ast::CastType::Date) {
      Temporal date;
      date.kind = Temporal::Kind::Date;
      date.year = t->year;
      date.month = t->month;
      date.day = t->day;
      return Value::temporal(date);
    }
    return Value::temporal(round_fraction(*t, decimals_));
  }
  static ZeroParts zero_parts(Evaluation& evaluation) {
    const bool forbidden = (evaluation.session().settings.sql_mode & sql_mode::kNoZeroInDate) != 0;
    return forbidden ? ZeroParts::AreNone : ZeroParts::AreTaken;
  }
  static std::optional<Temporal> zero_date(Evaluation& evaluation) {
    const bool forbidden = (evaluation.session().settings.sql_mode & sql_mode::kNoZeroDate) != 0;
    return forbidden ? std::nullopt : std::optional(Temporal());
  }
  // A time is one of today.
  static std::optional<Temporal> date_of(const Value& operand, Evaluation& evaluation) {
    const bool number = operand.kind() == Kind::Int || operand.kind() == Kind::UInt ||
                        operand.kind() == Kind::Double || operand.kind() == Kind::Decimal;
    if (number) return to_double(operand) == 0 ? zero_date(evaluation) : date_of_number(operand);
    if (operand.kind() != Kind::Temporal || operand.as_temporal().kind != Temporal::Kind::Time)
      return to_datetime(operand);
    const SessionState& session = evaluation.session();
    constexpr int64_t kSecond = 1'000'000;
    const int64_t now = session.statement_microseconds / kSecond + session.settings.time_zone_offset;
    return time_on_day(operand.as_temporal(), now);
  }
  static std::optional<Temporal> time_of(const Value& operand, Evaluation& evaluation) {
    const auto t = clock_wanted(operand, evaluation);
    return t ? to_time(Value::temporal(*t)) : std::nullopt;
  }
  static Value year(const Value& operand, Evaluation& evaluation) {
    const bool temporal = operand.kind() == Kind::Temporal;
    const int64_t number = temporal ? date_of(operand, evaluation)->year : to_int64(operand);
    const int64_t year = temporal || number < 0 || number > 99           ? number
                         : number == 0 && operand.kind() != Kind::String ? 0
                         : number < 70                                   ? number + 2000
                                                                         : number + 1900;
    if (year == 0 || (year >= 1901 && year <= 2155))
      return Value::unsigned_integer(static_cast<uint64_t>(year));
    evaluation.warn(
        make_error(er::kTruncatedWrongValue, "Truncated incorrect YEAR value: '{}'", to_text(operand)));
    return Value::null();
  }
  static void warn_of_integer(std::string_view kind, const Value& operand, Evaluation& evaluation) {
    evaluation.warn(
        make_error(er::kTruncatedWrongValue, "Truncated incorrect {} value: '{}'", kind, to_text(operand)));
  }
  static Value signed_integer(const Value& operand, Evaluation& evaluation) {
    constexpr double kBeyond = 9223372036854775808.0;
    if (operand.kind() == Kind::String) return signed_of_text(operand, evaluation);
    const bool inexact = operand.kind() == Kind::Double || operand.kind() == Kind::Decimal;
    const double number = inexact ? to_double(operand) : 0;
    if (number < kBeyond && number >= -kBeyond) return Value::integer(static_cast<int64_t>(to_bits(operand)));
    warn_of_integer(operand.kind() == Kind::Double ? "INTEGER" : "DECIMAL", operand, evaluation);
    return Value::integer(number < 0 ? INT64_MIN : INT64_MAX);
  }
  // As bits: what is above the signed numbers is negative.
  static Value signed_of_text(const Value& operand, Evaluation& evaluation) {
    bool complete = true;
    const int64_t number = leading_integer(operand.as_string(), &complete);
    if (!complete && number != INT64_MAX) {
      warn_of_integer("INTEGER", operand, evaluation);
      return Value::integer(number);
    }
    if (complete) return Value::integer(number);
    const auto above = whole_integer(operand.as_string());
    if (!above) warn_of_integer("INTEGER", operand, evaluation);
    evaluation.warn({er::kUnknownError,
                     "Cast to signed converted positive out-of-range integer to its negative complement"});
    return Value::integer(above ? static_cast<int64_t>(to_bits(*above)) : -1);
  }
  Value decimal(const Value& operand, Evaluation& evaluation) const {
    const double magnitude = operand.kind() == Kind::Double ? operand.as_double() : 0;
    Decimal whole = to_decimal(operand);
    const __int128 largest = power_of_ten(kMaxDecimalPrecision) - 1;
    if (operand.kind() == Kind::String && has_too_many_digits(operand.as_string())) {
      if (length_ > kMaxDecimalPrecision) return beyond_digits(evaluation);
      whole = {to_double(operand) < 0 ? -largest : largest, 0};
    }
    if (std::fabs(magnitude) > 1e37) whole = {magnitude < 0 ? -largest : largest, 0};
    auto scaled = rescale(whole, decimals_);
    if (!scaled && length_ > kMaxDecimalPrecision) return beyond_digits(evaluation);
    if (scaled && fits(*scaled, static_cast<uint8_t>(length_), decimals_)) return Value::decimal(*scaled);
    Decimal most{power_of_ten(static_cast<uint8_t>(std::min<uint32_t>(length_, kMaxDecimalPrecision))) - 1,
                 decimals_};
    if (whole.unscaled < 0) most.unscaled = -most.unscaled;
    evaluation.warn(make_error(er::kWarnDataOutOfRange, "Out of range value for column '(null)' at row 1"));
    return Value::decimal(most);
  }
  static bool has_too_many_digits(std::string_view text) {
    const std::string_view number = leading_number(text);
    return !number.empty() && !parse_decimal(number);
  }
  static Value beyond_digits(Evaluation& evaluation) {
    evaluation.fail(make_error(er::kNotSupportedYet,
                               "This version of MySQL doesn't yet support 'DECIMAL of more than {} digits'",
                               kMaxDecimalPrecision));
    return Value::null();
  }
  Value convert(const Value& operand, Evaluation& evaluation) const {
    using ast::CastType;
    const bool as_text = to_ == CastType::Char || to_ == CastType::Binary;
    if (operand.kind() == Kind::Json && !as_text) return convert(scalar_of_json(operand), evaluation);
    switch (to_) {
      case CastType::Signed:
        return signed_integer(operand, evaluation);
      case CastType::Unsigned:
        return Value::unsigned_integer(bit_operand(operand));
      case CastType::Decimal:
        return decimal(operand, evaluation);
      case CastType::Double:
        return Value::real(to_double(operand));
      case CastType::Float:
        return Value::real(static_cast<double>(static_cast<float>(to_double(operand))));
      case CastType::Year:
        return year(operand, evaluation);
      case CastType::Date:
      case CastType::Time:
      case CastType::DateTime:
        return temporal(operand, evaluation);
      default:
        return text(operand, evaluation);
    }
  }

  ast::CastType to_;
  uint32_t length_;
  uint8_t decimals_;
  bool has_length_;
};

class Collate : public OneOperand {
 public:
  Collate(ExpressionPtr operand, uint16_t collation) : OneOperand(std::move(operand)) {
    type_ = operand_->type();
    if (!type_.is_string()) type_ = ValueType::text(type_.length);
    type_.collation = collation;
    type_.strength = ValueType::Strength::Explicit;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.is_null() || value.kind() == Kind::String) return value;
    Value shown = value;
    conform_digits(shown, operand_->type());
    scratch = Value::string(to_text(shown));
    return scratch;
  }
};

}  // namespace

ExpressionPtr make_cast(ExpressionPtr operand, const ast::Expr& target) {
  if (target.cast == ast::CastType::Json) return make_json_cast(std::move(operand));
  const bool time = target.cast == ast::CastType::Date || target.cast == ast::CastType::Time ||
                    target.cast == ast::CastType::DateTime;
  const bool text = target.cast == ast::CastType::Char || target.cast == ast::CastType::Binary;
  if (!time) operand = text ? text_of_bits(std::move(operand)) : number_of_label(std::move(operand));
  if (target.cast == ast::CastType::Binary) operand = bytes_of_text(std::move(operand));
  if (target.cast == ast::CastType::Signed) operand = number_behind_text(std::move(operand));
  if (target.cast == ast::CastType::Unsigned) operand = numeric_text(std::move(operand), "INTEGER");
  if (target.cast == ast::CastType::Decimal) operand = numeric_text(std::move(operand), "DECIMAL");
  if (target.cast == ast::CastType::Double || target.cast == ast::CastType::Float)
    operand = numeric_text(std::move(operand));
  return std::make_unique<Cast>(std::move(operand), target);
}
ExpressionPtr time_of_today(ExpressionPtr time) {
  ast::Expr target(ast::ExprKind::Cast, std::pmr::get_default_resource());
  target.cast = ast::CastType::DateTime;
  target.cast_decimals = time->type().decimals;
  return std::make_unique<Cast>(std::move(time), target);
}
ExpressionPtr make_collate(ExpressionPtr operand, uint16_t collation) {
  return std::make_unique<Collate>(std::move(operand), collation);
}

}  // namespace commitd::sql

#include <algorithm>
#include <cmath>
#include <random>

#include "base/decimal.h"
#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/functions/functions.h"
#include "sql/functions/number_locale.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;
using Kind = Value::Kind;

bool is_integer(const Value& v) {
  return v.kind() == Kind::Int || v.kind() == Kind::UInt;
}

Value real_or_null(double value) {
  return std::isfinite(value) ? Value::real(value) : Value::null();
}

Value absolute(Evaluation& e, Values a) {
  if (a[0].kind() == Kind::UInt) return a[0];
  if (a[0].kind() == Kind::Decimal) {
    Decimal d = a[0].as_decimal();
    if (d.unscaled < 0) d.unscaled = -d.unscaled;
    return Value::decimal(d);
  }
  if (!is_integer(a[0])) return Value::real(std::fabs(to_double(a[0])));
  return a[0].as_int() < 0 ? arithmetic(ast::Op::Subtract, Value::integer(0), a[0], e, "abs") : a[0];
}

Value modulo(Evaluation& e, Values a) {
  return arithmetic(ast::Op::Modulo, a[0], a[1], e, "mod");
}

Value sign(Evaluation&, Values a) {
  const double v = to_double(a[0]);
  return Value::integer(v > 0 ? 1 : v < 0 ? -1 : 0);
}

// Rounds (half away from zero) or cuts at `places` digits, which may be negative.
Value round_exact(const Value& value, int64_t places, bool cut) {
  Decimal d = to_decimal(value);
  const int64_t drop = d.scale - places;
  if (drop <= 0) return value;
  const auto digits = static_cast<uint8_t>(std::min<int64_t>(drop, kMaxDecimalPrecision));
  const __int128 unit = power_of_ten(digits);
  __int128 kept = d.unscaled / unit;
  const __int128 rest = d.unscaled % unit;
  if (!cut && (rest < 0 ? -rest : rest) * 2 >= unit) kept += d.unscaled < 0 ? -1 : 1;
  if (places < 0) {
    kept *= power_of_ten(static_cast<uint8_t>(std::min<int64_t>(-places, kMaxDecimalPrecision)));
    places = 0;
  }
  const Value result = Value::decimal({kept, static_cast<uint8_t>(places)});
  return is_integer(value) ? to_integer(result) : result;
}

Value rounded(Values a, bool cut) {
  const int64_t places = a.size() > 1 ? std::clamp<int64_t>(to_int64(a[1]), -kMaxDecimalPrecision, 30) : 0;
  if (is_integer(a[0]) || a[0].kind() == Kind::Decimal) return round_exact(a[0], places, cut);
  const double value = to_double(a[0]);
  const double factor = std::pow(10.0, static_cast<double>(std::llabs(places)));
  const double scaled = places >= 0 ? value * factor : value / factor;
  if (!std::isfinite(scaled)) return Value::real(value);
  const double whole = cut ? std::trunc(scaled) : std::rint(scaled);
  return Value::real(places >= 0 ? whole / factor : whole * factor);
}
Value round_value(Evaluation&, Values a) {
  return rounded(a, false);
}
Value truncate(Evaluation&, Values a) {
  return rounded(a, true);
}

Value floor_or_ceiling(const Value& v, bool up) {
  if (is_integer(v)) return v;
  if (v.kind() != Kind::Decimal) return Value::real(up ? std::ceil(to_double(v)) : std::floor(to_double(v)));
  const __int128 unit = power_of_ten(v.as_decimal().scale);
  __int128 whole = v.as_decimal().unscaled / unit;
  const __int128 rest = v.as_decimal().unscaled % unit;
  if (up && rest > 0) ++whole;
  if (!up && rest < 0) --whole;
  const bool is_bigint = whole >= INT64_MIN && whole <= INT64_MAX;
  return is_bigint ? Value::integer(static_cast<int64_t>(whole)) : Value::decimal({whole, 0});
}
Value floor_value(Evaluation&, Values a) {
  return floor_or_ceiling(a[0], false);
}
Value ceiling(Evaluation&, Values a) {
  return floor_or_ceiling(a[0], true);
}

// 1690: a result that is no number of its type.
Value real_in_range(Evaluation& e, double value, std::string_view call) {
  if (std::isfinite(value)) return Value::real(value);
  e.fail(make_error(er::kDataOutOfRange, "DOUBLE value is out of range in '{}'", call));
  return Value::null();
}

Value power(Evaluation& e, Values a) {
  return real_in_range(e, std::pow(to_double(a[0]), to_double(a[1])),
                       fmt::format("pow({},{})", to_text(a[0]), to_text(a[1])));
}
Value square_root(Evaluation&, Values a) {
  return real_or_null(std::sqrt(to_double(a[0])));
}
Value exponential(Evaluation& e, Values a) {
  return real_in_range(e, std::exp(to_double(a[0])), fmt::format("exp({})", to_text(a[0])));
}
Value no_logarithm(Evaluation& e) {
  e.warn({er::kInvalidArgumentForLogarithm, "Invalid argument for logarithm"});
  return Value::null();
}
Value natural_log(Evaluation& e, Values a) {
  const double value = to_double(a[a.size() - 1]);
  if (value <= 0) return no_logarithm(e);
  return real_or_null(a.size() == 1 ? std::log(value) : std::log(value) / std::log(to_double(a[0])));
}
Value log_2(Evaluation& e, Values a) {
  return to_double(a[0]) <= 0 ? no_logarithm(e) : Value::real(std::log2(to_double(a[0])));
}
Value log_10(Evaluation& e, Values a) {
  return to_double(a[0]) <= 0 ? no_logarithm(e) : Value::real(std::log10(to_double(a[0])));
}
Value pi(Evaluation&, Values) {
  return Value::real(M_PI);
}
Value sine(Evaluation&, Values a) {
  return Value::real(std::sin(to_double(a[0])));
}
Value cosine(Evaluation&, Values a) {
  return Value::real(std::cos(to_double(a[0])));
}

Value tangent(Evaluation&, Values a) {
  return real_or_null(std::tan(to_double(a[0])));
}
Value cotangent(Evaluation& e, Values a) {
  const double value = std::tan(to_double(a[0]));
  if (value == 0) {
    e.fail(make_error(er::kDataOutOfRange, "DOUBLE value is out of range in 'cot({})'", to_text(a[0])));
    return Value::null();
  }
  return Value::real(1 / value);
}
Value arc_sine(Evaluation&, Values a) {
  return real_or_null(std::asin(to_double(a[0])));
}
Value arc_cosine(Evaluation&, Values a) {
  return real_or_null(std::acos(to_double(a[0])));
}
Value arc_tangent(Evaluation&, Values a) {
  return Value::real(a.size() > 1 ? std::atan2(to_double(a[0]), to_double(a[1]))
                                  : std::atan(to_double(a[0])));
}
Value degrees(Evaluation& e, Values a) {
  return real_in_range(e, to_double(a[0]) * (180 / M_PI), fmt::format("degrees({})", to_text(a[0])));
}
Value radians(Evaluation&, Values a) {
  return Value::real(to_double(a[0]) * (M_PI / 180));
}

Value random(Evaluation&, Values) {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  return Value::real(unit(generator));
}

Value extreme(Values a, bool greatest, uint16_t collation) {
  const Value* best = &a[0];
  for (const Value& v : a) {
    const auto order = compare_values(v, *best, collation);
    if (greatest ? order > 0 : order < 0) best = &v;
  }
  return *best;
}
Value greatest(Evaluation& e, Values a) {
  return extreme(a, true, e.collation);
}
Value least(Evaluation& e, Values a) {
  return extreme(a, false, e.collation);
}

// BIN and OCT are CONV from base ten, which reads a number's text up to its point.
uint64_t whole_part(const Value& value) {
  return to_bits(is_integer(value) ? value : rounded(std::array{value, Value::integer(0)}, true));
}
Value binary_text(Evaluation&, Values a) {
  return Value::string(fmt::format("{:b}", whole_part(a[0])));
}
Value octal_text(Evaluation&, Values a) {
  return Value::string(fmt::format("{:o}", whole_part(a[0])));
}
Value bit_count(Evaluation&, Values a) {
  return Value::integer(__builtin_popcountll(to_bits(a[0])));
}

NumberLocale locale_named(const std::string& name, Evaluation& e) {
  const auto found = find_number_locale(name);
  if (!found) e.session().diagnostics.warn(make_error(er::kUnknownLocale, "Unknown locale: '{}'", name));
  return found.value_or(NumberLocale{});
}

Value format(Evaluation& e, Values a) {
  const NumberLocale locale = a.size() > 2 ? locale_named(to_text(a[2]), e) : NumberLocale{};
  const auto places = static_cast<uint8_t>(std::clamp<int64_t>(to_int64(a[1]), 0, 30));
  const Decimal d = to_decimal(rounded(std::array{a[0], Value::integer(places)}, false));
  std::string digits = Value::decimal(rescale(d, places).value_or(d)).to_text();
  const size_t first = digits[0] == '-' ? 1 : 0;
  const size_t point = std::min(digits.find('.'), digits.size());
  if (point < digits.size()) digits[point] = locale.point;
  size_t group = 3;
  for (size_t at = point; at > first + group; group = locale.groups_of_two ? 2 : 3) {
    at -= group;
    digits.insert(at, locale.separator);
  }
  return Value::string(digits);
}

Value convert_base(Evaluation&, Values a) {
  const int64_t from = to_int64(a[1]), to = to_int64(a[2]);
  if (from < 2 || from > 36 || to < 2 || to > 36) return Value::null();
  uint64_t number = std::strtoull(to_text(a[0]).c_str(), nullptr, static_cast<int>(from));
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % static_cast<uint64_t>(to)]);
    number /= static_cast<uint64_t>(to);
  } while (number != 0);
  return Value::string(digits);
}

ValueType same_number(Types types) {
  const ValueType& type = types[0];
  return is_number(type) ? type : ValueType::real();
}
ValueType whole_number(Types types) {
  const ValueType& type = types[0];
  if (type.is_integer()) return ValueType::integer(type.length, type.is_unsigned);
  if (type.type != FieldType::NewDecimal) {
    ValueType real = ValueType::real();
    if (is_number(type)) real.decimals = 0;
    return real;
  }
  const uint32_t digits = type.length - type.decimals;
  const uint32_t most = type.decimals == 0 ? 18 : 17;  // rounded up there may be one more, which may not fit
  return digits <= most ? ValueType::integer() : ValueType::decimal(digits, 0);
}
ValueType modulo_type(Types types) {
  if (types[0].is_integer() && types[1].is_integer()) return ValueType::integer(21, types[0].is_unsigned);
  ValueType type = common_type(types);
  if (type.type == FieldType::NewDecimal) type.length = std::max(types[0].length, types[1].length);
  return type;
}

// ROUND and TRUNCATE to a constant number of digits have that many.
void refine_rounded(const Expressions& arguments, ValueType& type) {
  const bool real = type.type == FieldType::Double || type.type == FieldType::Float;
  if (!real && type.type != FieldType::NewDecimal) return;
  const auto* places = arguments.size() < 2 ? nullptr : dynamic_cast<const Constant*>(arguments[1].get());
  if (arguments.size() == 2 && (places == nullptr || places->value().is_null())) return;
  const int64_t digits = places == nullptr ? 0 : to_int64(places->value());
  if (type.type == FieldType::Float) type = ValueType::real();
  const int64_t most = real ? type.decimals : kMaxDecimalScale;
  type.decimals = static_cast<uint8_t>(std::clamp<int64_t>(digits, 0, most));
}
ValueType pi_type(Types) {
  ValueType type = ValueType::real();
  type.decimals = 6;
  return type;
}
ValueType extreme_type(Types types) {
  return common_type(types);
}

constexpr int kAny = FunctionSpec::kAnyNumber;
constexpr FunctionSpec kFunctions[] = {
    {"ABS", 1, 1, true, absolute, same_number},
    {"MOD", 2, 2, true, modulo, modulo_type},
    {"SIGN", 1, 1, true, sign, integer_type},
    {"ROUND", 1, 2, true, round_value, same_number, refine_rounded},
    {"TRUNCATE", 2, 2, true, truncate, same_number, refine_rounded},
    {"FLOOR", 1, 1, true, floor_value, whole_number},
    {"CEIL", 1, 1, true, ceiling, whole_number},
    {"CEILING", 1, 1, true, ceiling, whole_number},
    {"POW", 2, 2, true, power, real_type},
    {"POWER", 2, 2, true, power, real_type},
    {"SQRT", 1, 1, true, square_root, real_type},
    {"EXP", 1, 1, true, exponential, real_type},
    {"LN", 1, 1, true, natural_log, real_type},
    {"LOG", 1, 2, true, natural_log, real_type},
    {"LOG2", 1, 1, true, log_2, real_type},
    {"LOG10", 1, 1, true, log_10, real_type},
    {"PI", 0, 0, true, pi, pi_type},
    {"SIN", 1, 1, true, sine, real_type},
    {"COS", 1, 1, true, cosine, real_type},
    {"TAN", 1, 1, true, tangent, real_type},
    {"COT", 1, 1, true, cotangent, real_type},
    {"ASIN", 1, 1, true, arc_sine, real_type},
    {"ACOS", 1, 1, true, arc_cosine, real_type},
    {"ATAN", 1, 2, true, arc_tangent, real_type},
    {"ATAN2", 1, 2, true, arc_tangent, real_type},
    {"DEGREES", 1, 1, true, degrees, real_type},
    {"RADIANS", 1, 1, true, radians, real_type},
    {"RAND", 0, 1, false, random, real_type},
    {"GREATEST", 2, kAny, true, greatest, extreme_type},
    {"LEAST", 2, kAny, true, least, extreme_type},
    {"BIN", 1, 1, true, binary_text, text_type},
    {"OCT", 1, 1, true, octal_text, text_type},
    {"BIT_COUNT", 1, 1, true, bit_count, integer_type},
    {"FORMAT", 2, 3, true, format, text_type},
    {"CONV", 3, 3, true, convert_base, text_type},
};

}  // namespace

std::span<const FunctionSpec> number_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

#include "sql/expression/store/kinds.h"

#include <cmath>
#include <limits>

#include "base/decimal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/store/problems.h"
#include "storage/record/column_format.h"

namespace commitd::sql::store {
namespace {

using Kind = Value::Kind;

struct Limits {
  int64_t least;
  uint64_t most;
};

Limits limits_of(const ColumnDef& column) {
  const size_t bits = 8 * number_size(column);
  if (column.is_unsigned) return {0, bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1};
  return {bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1)), (uint64_t{1} << (bits - 1)) - 1};
}

// FLOAT(M,D): M digits, D of them behind the point.
double greatest_of(const ColumnDef& column) {
  return std::pow(10.0, static_cast<int>(column.length) - column.decimals) -
         std::pow(10.0, -static_cast<int>(column.decimals));
}

double rounded_to(double number, uint8_t decimals) {
  const double whole = std::floor(number), unit = std::pow(10.0, decimals);
  return whole + std::rint((number - whole) * unit) / unit;
}

// More than any integer type holds.
bool is_beyond_integers(const Value& value) {
  constexpr double kMost = 18446744073709551616.0, kLeast = -9223372036854775808.0;
  if (value.kind() == Kind::Double) return value.as_double() >= kMost || value.as_double() < kLeast;
  if (value.kind() != Kind::Decimal) return false;
  const auto whole = rescale(value.as_decimal(), 0);
  return !whole || whole->unscaled > UINT64_MAX || whole->unscaled < INT64_MIN;
}

}  // namespace

namespace {

struct IntegerOfText {
  Value number;
  bool complete = true;  // the text is nothing but the number
  bool beyond = false;   // it is more than any integer type holds
};

// By its digits, as far as they are those of a decimal: a DOUBLE would not hold them all.
IntegerOfText integer_of_text(std::string_view text) {
  IntegerOfText result;
  if (auto whole = whole_integer(text)) return {*std::move(whole), true, false};
  const double parsed = leading_double(text, &result.complete);
  const auto exact = parse_decimal(leading_number(text));
  const Value number = exact ? Value::decimal(*exact) : Value::real(parsed);
  result.number = to_integer(number);
  result.beyond = is_beyond_integers(number);
  return result;
}

}  // namespace

Result<Value> store_integer(const ColumnDef& column, const Value& value, StoreContext& context) {
  Value number;
  bool beyond = false;
  if (value.kind() == Kind::String) {
    IntegerOfText found = integer_of_text(value.as_string());
    number = std::move(found.number);
    beyond = found.beyond;
    if (!found.complete) {
      const bool some = to_bits(number) != 0 || (!value.as_string().empty() && value.as_string()[0] == '0');
      Error error = some ? truncated(column, context) : incorrect("integer", column, value, context);
      auto kept = adjusted(context, std::move(error), number);
      if (!kept.ok()) return kept;
    }
  } else {
    number = to_integer(value);
    beyond = is_beyond_integers(value);
  }
  const Limits limits = limits_of(column);
  const bool negative = number.kind() == Kind::Int && number.as_int() < 0;
  const bool below = negative && (beyond || number.as_int() < limits.least);
  const bool above = !negative && (beyond || to_bits(number) > limits.most);
  if (below || above) {
    const Value nearest = column.is_unsigned
                              ? Value::unsigned_integer(below ? 0 : limits.most)
                              : Value::integer(below ? limits.least : static_cast<int64_t>(limits.most));
    return adjusted(context, out_of_range(column, context), nearest);
  }
  return column.is_unsigned ? Value::unsigned_integer(to_bits(number))
                            : Value::integer(static_cast<int64_t>(to_bits(number)));
}

Result<Value> store_real(const ColumnDef& column, const Value& value, StoreContext& context) {
  double number = to_double(value);
  if (value.kind() == Kind::String) {
    bool complete = false;
    number = leading_double(value.as_string(), &complete);
    if (!complete) {
      Error error = number != 0 ? truncated(column, context)
                                : incorrect(column.type == FieldType::Float ? "float" : "double", column,
                                            value, context);
      auto kept = adjusted(context, std::move(error), Value::real(number));
      if (!kept.ok()) return kept;
    }
  }
  if (column.is_unsigned && number < 0)
    return adjusted(context, out_of_range(column, context), Value::real(0));
  if (has_fixed_decimals(column)) {
    const double most = greatest_of(column);
    number = rounded_to(number, column.decimals);
    if (std::fabs(number) > most)
      return adjusted(context, out_of_range(column, context), Value::real(number < 0 ? -most : most));
  }
  if (column.type == FieldType::Float) {
    const double most = std::numeric_limits<float>::max();
    if (std::fabs(number) > most)
      return adjusted(context, out_of_range(column, context), Value::real(number < 0 ? -most : most));
    number = static_cast<double>(static_cast<float>(number));
  }
  return Value::real(number);
}

Result<Value> store_decimal(const ColumnDef& column, const Value& value, StoreContext& context) {
  const auto precision = static_cast<uint8_t>(column.length);
  bool complete = true;
  Decimal number;
  if (value.kind() == Kind::String) {
    const double approximate = leading_double(value.as_string(), &complete);
    const auto exact = parse_decimal(value.as_string());
    number = exact ? *exact : to_decimal(Value::real(approximate));
    if (!complete) {
      Error error =
          approximate != 0 ? truncated(column, context) : incorrect("decimal", column, value, context);
      auto kept = adjusted(context, std::move(error), Value::null());
      if (!kept.ok()) return kept;
    }
  } else {
    number = to_decimal(value);
  }
  Decimal most{power_of_ten(precision) - 1, column.decimals};
  const bool negative = number.unscaled < 0;
  if (negative) most.unscaled = column.is_unsigned ? 0 : -most.unscaled;
  if (std::fabs(to_double(value)) > 1e38)
    return adjusted(context, out_of_range(column, context), Value::decimal(most));
  const auto scaled = rescale(number, column.decimals);
  if (!scaled || !fits(*scaled, precision, column.decimals) || (negative && column.is_unsigned)) {
    return adjusted(context, out_of_range(column, context), Value::decimal(most));
  }
  if (compare(*scaled, number) != 0) {
    context.diagnostics.note(truncated(column, context));
  }
  return Value::decimal(*scaled);
}

Result<Value> store_bits(const ColumnDef& column, const Value& value, StoreContext& context) {
  uint64_t bits = 0;
  bool fits_width = true;
  if (value.kind() == Kind::String) {
    for (const char c : value.as_string()) {
      fits_width &= bits >> 56 == 0;
      bits = bits << 8 | static_cast<uint8_t>(c);
    }
  } else {
    bits = to_bits(value);
  }
  const uint32_t width = column.length == 0 ? 1 : column.length;
  if (width < 64 && bits >> width != 0) fits_width = false;
  if (!fits_width) {
    const uint64_t most = width >= 64 ? UINT64_MAX : (uint64_t{1} << width) - 1;
    Error error = context.strict ? too_long(column, context) : out_of_range(column, context);
    return adjusted(context, std::move(error), Value::unsigned_integer(most));
  }
  return Value::unsigned_integer(bits);
}

}  // namespace commitd::sql::store

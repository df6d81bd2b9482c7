#include "sql/expression/literal.h"

#include <charconv>
#include <string>

#include "base/decimal.h"

namespace commitd::sql {
namespace {

Value integer_literal(std::string_view text) {
  uint64_t number = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc{})
    return number <= INT64_MAX ? Value::integer(static_cast<int64_t>(number))
                               : Value::unsigned_integer(number);
  if (auto decimal = parse_decimal(text)) return Value::decimal(*decimal);
  return Value::real(std::strtod(std::string(text).c_str(), nullptr));
}

Value decimal_literal(std::string_view text) {
  if (auto decimal = parse_decimal(text)) return Value::decimal(*decimal);
  return Value::real(std::strtod(std::string(text).c_str(), nullptr));
}

int hex_digit(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

Value hex_literal(std::string_view digits) {
  std::string bytes;
  if (digits.size() % 2) bytes.push_back(static_cast<char>(hex_digit(digits.front())));
  for (size_t i = digits.size() % 2; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(hex_digit(digits[i]) * 16 + hex_digit(digits[i + 1])));
  }
  return Value::string(std::move(bytes), true);
}

Value bits_literal(std::string_view digits) {
  std::string bytes((digits.size() + 7) / 8, '\0');
  for (size_t i = 0; i < digits.size(); ++i) {
    const size_t bit = digits.size() - 1 - i;
    char& byte = bytes[bytes.size() - 1 - bit / 8];
    if (digits[i] == '1') byte = static_cast<char>(byte | 1 << (bit % 8));
  }
  return Value::string(std::move(bytes), true);
}

std::optional<Value> negated(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Int:
      if (value.as_int() == INT64_MIN) return Value::decimal({-static_cast<__int128>(INT64_MIN), 0});
      return Value::integer(-value.as_int());
    case Value::Kind::UInt:
      if (value.as_uint() == uint64_t{1} << 63) return Value::integer(INT64_MIN);
      return Value::decimal({-static_cast<__int128>(value.as_uint()), 0});
    case Value::Kind::Double:
      return Value::real(-value.as_double());
    case Value::Kind::Decimal:
      return Value::decimal({-value.as_decimal().unscaled, value.as_decimal().scale});
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Value> literal_value(const ast::Expr& expression) {
  using ast::ExprKind;
  switch (expression.kind) {
    case ExprKind::Null:
      return Value::null();
    case ExprKind::Boolean:
      return Value::integer(!expression.negated);  // FALSE is the negated one
    case ExprKind::Integer:
      return integer_literal(expression.text);
    case ExprKind::Decimal:
      return decimal_literal(expression.text);
    case ExprKind::Float:
      return Value::real(std::strtod(std::string(expression.text).c_str(), nullptr));
    case ExprKind::String:
      return Value::string(std::string(expression.text));
    case ExprKind::Hex:
      return hex_literal(expression.text);
    case ExprKind::Bits:
      return bits_literal(expression.text);
    case ExprKind::Unary:
      if (expression.op != ast::Op::Negate) return std::nullopt;
      if (auto value = literal_value(*expression.arguments[0])) return negated(*value);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool is_byte_literal(const ast::Expr& expression) {
  return expression.kind == ast::ExprKind::Hex || expression.kind == ast::ExprKind::Bits;
}

Value number_of_bytes(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return Value::unsigned_integer(number);
}

}  // namespace commitd::sql

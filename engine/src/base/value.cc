#include "base/value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/json/text.h"
#include "base/temporal.h"

namespace commitd {

namespace {

// MySQL prints a number whose decimal point lies within this many digits without an exponent.
constexpr int kMaxPlainExponent = 15;

// Digits and decimal exponent of "d.ddde±xx".
struct Scientific {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Scientific split(std::string_view text) {
  Scientific parts;
  if (text.front() == '-') {
    parts.negative = true;
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c != '.') parts.digits.push_back(c);
  }
  parts.exponent = std::atoi(text.data() + e + 1);
  while (parts.digits.size() > 1 && parts.digits.back() == '0') parts.digits.pop_back();
  return parts;
}

std::string plain_text(const Scientific& number) {
  std::string text = number.digits;
  const int point = number.exponent + 1;
  if (point <= 0) return "0." + std::string(static_cast<size_t>(-point), '0') + text;
  if (static_cast<size_t>(point) >= text.size())
    return text + std::string(static_cast<size_t>(point) - text.size(), '0');
  text.insert(static_cast<size_t>(point), 1, '.');
  return text;
}

std::string exponent_text(const Scientific& number) {
  std::string text = number.digits;
  if (text.size() > 1) text.insert(1, 1, '.');
  return fmt::format("{}e{}", text, number.exponent);
}

std::string mysql_number_text(std::string_view scientific) {
  const Scientific number = split(scientific);
  const int point = number.exponent + 1;
  const bool plain = point > -kMaxPlainExponent && point <= kMaxPlainExponent;
  const std::string text = plain ? plain_text(number) : exponent_text(number);
  return number.negative ? "-" + text : text;
}

std::string double_text(double value, bool single) {
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  if (single) {
    std::snprintf(buffer.data(), buffer.size(), "%.5e", value);
    return mysql_number_text(buffer.data());
  }
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size() - 1, value, std::chars_format::scientific)
          .ptr;
  *end = '\0';
  return mysql_number_text({buffer.data(), static_cast<size_t>(end - buffer.data())});
}

}  // namespace

std::string Value::to_text() const {
  switch (kind_) {
    case Kind::Null:
      return "NULL";
    case Kind::Int:
      return fmt::format_int(number_.i).str();
    case Kind::UInt:
      return fmt::format_int(number_.u).str();
    case Kind::Double:
      return double_text(number_.d, single_);
    case Kind::Decimal:
      return number_.dec.to_string();
    case Kind::String:
      return text_;
    case Kind::Temporal:
      return format_temporal(number_.t);
    case Kind::Json:
      return json::text_of(text_);
  }
  return {};
}

}  // namespace commitd

#include "base/decimal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/packed_int.h"

namespace commitd {

namespace {

constexpr int kDigitsPerWord = 9;
// Bytes that 0…9 decimal digits take in MySQL's binary form.
constexpr std::array<uint8_t, 10> kBytesForDigits = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

using Unsigned128 = unsigned __int128;

Unsigned128 magnitude(__int128 value) {
  return value < 0 ? -static_cast<Unsigned128>(value) : static_cast<Unsigned128>(value);
}

std::string digits_of(Unsigned128 value) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

// MySQL writes the digits left of the point in groups of nine counted from the point, and those right of it
// likewise; the odd group is the leftmost and the rightmost one.
void append_groups(std::string& out, std::string_view digits, bool odd_group_first) {
  const size_t odd = digits.size() % kDigitsPerWord;
  auto append_group = [&](std::string_view group) {
    uint32_t number = 0;
    for (char digit : group) number = number * 10 + static_cast<uint32_t>(digit - '0');
    append_big_endian(out, number, kBytesForDigits[group.size()]);
  };
  if (odd_group_first && odd != 0) append_group(digits.substr(0, odd));
  const size_t first = odd_group_first ? odd : 0;
  const size_t last = odd_group_first ? digits.size() : digits.size() - odd;
  for (size_t i = first; i < last; i += kDigitsPerWord) append_group(digits.substr(i, kDigitsPerWord));
  if (!odd_group_first && odd != 0) append_group(digits.substr(last));
}

struct GroupReader {
  const char* at;
  bool invert;
  Unsigned128 number = 0;

  void take(size_t digits) {
    std::array<char, 4> bytes{};
    const size_t count = kBytesForDigits[digits];
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(invert ? ~at[i] : at[i]);
    at += count;
    number = number * static_cast<Unsigned128>(power_of_ten(static_cast<uint8_t>(digits))) +
             load_be(bytes.data(), count);
  }
};

// Sign, digits and exponent of a number's text; false when it is none.
struct NumberText {
  bool negative = false;
  std::string digits;
  int point = 0;  // digits in front of the decimal point

  bool parse(std::string_view text) {
    size_t i = 0;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
    bool seen_point = false, seen_digit = false;
    for (; i < text.size(); ++i) {
      if (text[i] == '.' && !seen_point) {
        seen_point = true;
      } else if (std::isdigit(static_cast<unsigned char>(text[i]))) {
        seen_digit = true;
        digits.push_back(text[i]);
        if (!seen_point) ++point;
      } else {
        break;
      }
    }
    if (!seen_digit) return false;
    return i == text.size() || parse_exponent(text.substr(i));
  }

  bool parse_exponent(std::string_view text) {
    if (text[0] != 'e' && text[0] != 'E') return false;
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '+') text.remove_prefix(1);
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc{} || end != text.data() + text.size() || exponent > 1000 || exponent < -1000)
      return false;
    point += exponent;
    return true;
  }
};

}  // namespace

__int128 power_of_ten(uint8_t exponent) {
  static const auto table = [] {
    std::array<__int128, kMaxDecimalPrecision + 1> powers{};
    powers[0] = 1;
    for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
  }();
  return table[exponent];
}

std::string Decimal::to_string() const {
  std::string digits = digits_of(magnitude(unscaled));
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - scale, 1, '.');
  if (unscaled < 0) digits.insert(0, 1, '-');
  return digits;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  NumberText number;
  if (!number.parse(text)) return std::nullopt;
  const size_t zeros = std::min(number.digits.find_first_not_of('0'), number.digits.size());
  number.digits.erase(0, zeros);
  number.point -= static_cast<int>(zeros);
  if (number.digits.empty()) {
    const int scale = std::clamp(-number.point, 0, static_cast<int>(kMaxDecimalScale));
    return Decimal{0, static_cast<uint8_t>(scale)};
  }
  int scale = static_cast<int>(number.digits.size()) - number.point;
  bool round_up = false;
  if (scale > kMaxDecimalScale) {
    const int kept = number.point + kMaxDecimalScale;
    round_up = kept >= 0 && number.digits[static_cast<size_t>(kept)] >= '5';
    number.digits.resize(static_cast<size_t>(std::max(kept, 0)));
    scale = kMaxDecimalScale;
  }
  if (scale < 0) {
    if (number.point > kMaxDecimalPrecision) return std::nullopt;
    number.digits.append(static_cast<size_t>(-scale), '0');
    scale = 0;
  }
  if (number.digits.size() > kMaxDecimalPrecision) return std::nullopt;
  __int128 unscaled = 0;
  for (char digit : number.digits) unscaled = unscaled * 10 + (digit - '0');
  if (round_up) ++unscaled;
  return Decimal{number.negative ? -unscaled : unscaled, static_cast<uint8_t>(scale)};
}

std::strong_ordering compare(const Decimal& left, const Decimal& right) {
  // Integer parts first, then the fractions at a common scale of at most 38 digits: neither overflows.
  const __int128 left_unit = power_of_ten(left.scale), right_unit = power_of_ten(right.scale);
  const __int128 left_whole = left.unscaled / left_unit, right_whole = right.unscaled / right_unit;
  if (left_whole != right_whole)
    return left_whole < right_whole ? std::strong_ordering::less : std::strong_ordering::greater;
  __int128 left_fraction = left.unscaled % left_unit, right_fraction = right.unscaled % right_unit;
  if (left.scale < right.scale) left_fraction *= power_of_ten(static_cast<uint8_t>(right.scale - left.scale));
  if (right.scale < left.scale)
    right_fraction *= power_of_ten(static_cast<uint8_t>(left.scale - right.scale));
  if (left_fraction == right_fraction) return std::strong_ordering::equal;
  return left_fraction < right_fraction ? std::strong_ordering::less : std::strong_ordering::greater;
}

std::optional<Decimal> rescale(const Decimal& value, uint8_t scale) {
  if (scale == value.scale) return value;
  if (scale > value.scale) {
    const auto growth = static_cast<uint8_t>(scale - value.scale);
    if (growth > kMaxDecimalPrecision) return std::nullopt;
    const __int128 limit = (power_of_ten(kMaxDecimalPrecision) - 1) / power_of_ten(growth);
    if (value.unscaled > limit || value.unscaled < -limit) return std::nullopt;
    return Decimal{value.unscaled * power_of_ten(growth), scale};
  }
  const __int128 divisor = power_of_ten(static_cast<uint8_t>(value.scale - scale));
  __int128 quotient = value.unscaled / divisor;
  const __int128 rest = value.unscaled % divisor;
  if ((rest < 0 ? -rest : rest) >= divisor / 2) quotient += value.unscaled < 0 ? -1 : 1;
  return Decimal{quotient, scale};
}

bool fits(const Decimal& value, uint8_t precision, uint8_t scale) {
  const auto rescaled = rescale(value, scale);
  if (!rescaled) return false;
  const __int128 limit = power_of_ten(std::min(precision, kMaxDecimalPrecision));
  return rescaled->unscaled < limit && rescaled->unscaled > -limit;
}

double to_double(const Decimal& value) {
  const std::string text = value.to_string();
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

size_t decimal_binary_size(uint8_t precision, uint8_t scale) {
  const size_t whole = precision - scale;
  return whole / kDigitsPerWord * 4 + kBytesForDigits[whole % kDigitsPerWord] + scale / kDigitsPerWord * 4 +
         kBytesForDigits[scale % kDigitsPerWord];
}

void append_decimal_binary(std::string& out, const Decimal& value, uint8_t precision, uint8_t scale) {
  const auto rescaled = rescale(value, scale);
  const Decimal stored = rescaled.value_or(Decimal{0, scale});
  std::string digits = digits_of(magnitude(stored.unscaled));
  digits.insert(0, precision > digits.size() ? precision - digits.size() : 0, '0');
  const size_t start = out.size();
  append_groups(out, std::string_view(digits).substr(0, precision - scale), true);
  append_groups(out, std::string_view(digits).substr(precision - scale), false);
  if (stored.unscaled < 0) {
    for (size_t i = start; i < out.size(); ++i) out[i] = static_cast<char>(~out[i]);
  }
  out[start] = static_cast<char>(out[start] ^ 0x80);
}

Decimal load_decimal_binary(const char* from, uint8_t precision, uint8_t scale) {
  std::string bytes(from, decimal_binary_size(precision, scale));
  const bool negative = (bytes[0] & 0x80) == 0;
  bytes[0] = static_cast<char>(bytes[0] ^ 0x80);
  GroupReader reader{bytes.data(), negative};
  const int whole = precision - scale;
  if (whole % kDigitsPerWord != 0) reader.take(static_cast<size_t>(whole % kDigitsPerWord));
  for (int i = 0; i < whole / kDigitsPerWord; ++i) reader.take(kDigitsPerWord);
  for (int i = 0; i < scale / kDigitsPerWord; ++i) reader.take(kDigitsPerWord);
  if (scale % kDigitsPerWord != 0) reader.take(static_cast<size_t>(scale % kDigitsPerWord));
  const auto unscaled = static_cast<__int128>(reader.number);
  return Decimal{negative ? -unscaled : unscaled, scale};
}

}  // namespace commitd

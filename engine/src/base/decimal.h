// Fixed-point numbers: text, comparison, and MySQL's binary form (decimal2bin), which orders bytewise as the
// numbers do.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace commitd {

// Digits a Decimal can hold; a column of larger precision must be refused.
inline constexpr uint8_t kMaxDecimalPrecision = 38;
inline constexpr uint8_t kMaxDecimalScale = 30;

__int128 power_of_ten(uint8_t exponent);  // exponent <= 38

// "-12.50", "+3", ".5", "1e3"; nullopt when it is not a number or needs more than 38 digits. Digits behind
// kMaxDecimalScale are rounded.
std::optional<Decimal> parse_decimal(std::string_view text);
std::strong_ordering compare(const Decimal& left, const Decimal& right);
// The same number with `scale` digits behind the point, rounded half away from zero; nullopt when it does not
// fit into 38 digits.
std::optional<Decimal> rescale(const Decimal& value, uint8_t scale);
// Of a precision beyond kMaxDecimalPrecision no more than that is there to be held.
bool fits(const Decimal& value, uint8_t precision, uint8_t scale);
double to_double(const Decimal& value);

// `value` must fit DECIMAL(precision, scale).
void append_decimal_binary(std::string& out, const Decimal& value, uint8_t precision, uint8_t scale);
size_t decimal_binary_size(uint8_t precision, uint8_t scale);
Decimal load_decimal_binary(const char* from, uint8_t precision, uint8_t scale);

}  // namespace commitd

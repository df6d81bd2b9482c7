// Conversions between kinds of values as MySQL does them in expressions, and comparison.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

// Numbers from the start of a text ("12abc" → 12); `complete` says whether that was all of it.
std::string_view leading_number(std::string_view text);  // its text
double leading_double(std::string_view text, bool* complete = nullptr);
// The integer that a text is, exactly; nullopt for what is none, or beyond 64 bits.
std::optional<Value> whole_integer(std::string_view text);
int64_t leading_integer(std::string_view text, bool* complete = nullptr);

// None of these takes NULL.
double to_double(const Value& value);
Value to_integer(const Value& value);  // rounded; Int or UInt
int64_t to_int64(const Value& value);  // rounded, cut to the range
uint64_t to_bits(const Value& value);  // for bit operations: two's complement
Decimal to_decimal(const Value& value);
std::string to_text(const Value& value);
// With the digits that its expression's type announces.
std::string to_text(const Value& value, const ValueType& type);
// The text without copying when it is a string.
std::string_view text_view(const Value& value, std::string& scratch);
std::optional<Temporal> to_datetime(const Value& value);
std::optional<Temporal> to_time(const Value& value);
// A time, or the date and time that a value is where it is one.
std::optional<Temporal> to_clock(const Value& value);
// A date, year of two digits or not: 20021020, 20021020123000, 101; nullopt for what is none.
std::optional<Temporal> date_of_number(const Value& value);
double temporal_number(const Temporal& value);  // 20260102030405.5
Decimal temporal_decimal(const Temporal& value);

enum class Truth : uint8_t { False, True, Unknown };
Truth truth(const Value& value);
inline bool is_true(const Value& value) {
  return truth(value) == Truth::True;
}

// MySQL's comparison of two values that are not NULL: as strings, numbers or times by their kinds. Strings by
// `collation`, unless one is binary.
std::strong_ordering compare_values(const Value& left, const Value& right, uint16_t collation);
// For sorting and grouping: NULL first, equal to itself.
std::strong_ordering order_values(const Value& left, const Value& right, uint16_t collation);
// Bytes that are equal exactly when the values are: the key of GROUP BY and DISTINCT.
void append_group_key(std::string& key, const Value& value, uint16_t collation);

// Gives an exact number or a time the digits that its expression's type announces: 1.5 in a DECIMAL(…, 3)
// is 1.500.
void conform_digits(Value& value, const ValueType& type);
// Makes a value of any kind one of `type`: what one result of several branches becomes.
void conform(Value& value, const ValueType& type);

// The collation that a comparison of two expressions uses.
uint16_t comparison_collation(const ValueType& left, const ValueType& right);

}  // namespace commitd::sql

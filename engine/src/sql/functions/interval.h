// INTERVAL amounts and their units, and what adding one to a date or time gives.
#pragma once

#include <optional>
#include <string_view>

#include "base/value.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

// What an amount of a unit comes to: months and microseconds, with the sign of the amount.
struct Interval {
  int64_t months = 0;
  int64_t microseconds = 0;
  bool whole_days = false;    // the unit leaves the time of day alone
  bool has_fraction = false;  // the unit counts microseconds
};

// nullopt: no unit of MySQL's has this (upper-case) name.
std::optional<Interval> read_interval(const Value& amount, std::string_view unit);

// NULL when the result is beyond the calendar or `start` is no date or time.
Value add_interval(Evaluation& evaluation, const Value& start, const Interval& interval);

Temporal date_part(Temporal value);
// Microseconds since 1970-01-01 of a date and time, or of a TIME since midnight.
int64_t microseconds_of(const Temporal& value);
// nullopt: beyond what TIME holds.
std::optional<Temporal> time_of_microseconds(int64_t microseconds, uint8_t decimals);
std::optional<Temporal> datetime_of_microseconds(int64_t microseconds, uint8_t decimals);

}  // namespace commitd::sql

// A time beside a date, or where a date is wanted, is one of the day on which the statement runs; a text is
// the date that it begins with.
#pragma once

#include "sql/expression/expression.h"

namespace commitd::sql {

bool is_time(const ValueType& type);
ExpressionPtr time_of_today(ExpressionPtr time);
// Of the day that a moment of the session's time zone falls on.
Temporal time_on_day(const Temporal& time, int64_t local_seconds);
// The expression, or, when it is a time and `other` has a date, that time of today.
ExpressionPtr time_beside_date(ExpressionPtr expression, const Expression& other);

// Dates that are not known in full ('2001-00-05', '0000-00-00') are none, or are taken.
enum class ZeroParts : uint8_t { AreNone, AreTaken };

// Warns where it is not wholly a date (1292); nullopt: it begins with none.
std::optional<Temporal> date_of_text(const std::string& text, Evaluation& evaluation, ZeroParts zero_parts);
// The time, or the date and time, that a function takes; a text that is longer than a TIME may be is the
// longest one, and is told about (1292).
std::optional<Temporal> clock_wanted(const Value& value, Evaluation& evaluation);
// What a function makes a date of.
ExpressionPtr date_wanted(ExpressionPtr expression, ZeroParts zero_parts);

}  // namespace commitd::sql

// Dates and times by format strings: DATE_FORMAT, TIME_FORMAT, STR_TO_DATE; and week numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace commitd::sql {

inline constexpr const char* kMonthNames[] = {"January",   "February", "March",    "April",
                                              "May",       "June",     "July",     "August",
                                              "September", "October",  "November", "December"};
inline constexpr const char* kDayNames[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                            "Friday", "Saturday", "Sunday"};

// Days since 1970-01-01; 0 = Monday; 1 = 1 January.
int64_t days_of(const Temporal& date);
int64_t monday_based(const Temporal& date);
int64_t day_in_year(const Temporal& date);

struct YearWeek {
  int64_t year = 0, week = 0;
};
// By MySQL's modes 0 … 7.
YearWeek week_of(const Temporal& date, unsigned mode);

// nullopt: the format needs a date that is not there.
std::optional<std::string> format_by(const Temporal& value, std::string_view format);
// nullopt: the text is not of this form.
std::optional<Temporal> parse_by(std::string_view text, std::string_view format);
// What parse_by gives for a format with these letters.
Temporal::Kind kind_of_format(std::string_view format);
bool format_has_fraction(std::string_view format);
// GET_FORMAT: of DATE, TIME and DATETIME, by the name of a standard; nullopt for another name.
std::optional<std::string> standard_format(std::string_view type, std::string_view standard);

}  // namespace commitd::sql

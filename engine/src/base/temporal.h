// Dates and times: text, calendar arithmetic, and the packed forms of MySQL's row images.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace commitd {

// --- text ---
std::string format_temporal(const Temporal& value);
// MySQL's literal forms: '2026-11-20', '20261120', '2026-11-20 10:00:00.5', '20261120100000', '-838:59:59.9',
// '12:30', '3 12:00:00' … nullopt when it is none, or a date that does not exist. The zero date '0000-00-00'
// parses; strict mode refuses it elsewhere.
std::optional<Temporal> parse_date(std::string_view text);
std::optional<Temporal> parse_datetime(std::string_view text);  // takes a date without a time as well
std::optional<Temporal> parse_time(std::string_view text);
// A time, or a date and time where the text is long enough to be one; what stands behind it does not count.
std::optional<Temporal> parse_clock(std::string_view text);

// --- calendar ---
bool is_valid_date(uint32_t year, uint32_t month, uint32_t day);  // 0000-00-00 counts as valid
bool is_zero_date(const Temporal& value);
int64_t day_number(uint32_t year, uint32_t month,
                   uint32_t day);  // days since 1970-01-01, proleptic Gregorian
Temporal date_from_day_number(int64_t days);
// Seconds since 1970-01-01 00:00:00 of a date and time taken as UTC, and back.
int64_t to_unix_seconds(const Temporal& datetime);
Temporal datetime_from_unix(int64_t seconds, uint32_t microsecond, uint8_t decimals);
// Rounds half up to `decimals` fractional digits, carrying into the higher fields.
Temporal round_fraction(const Temporal& value, uint8_t decimals);
std::strong_ordering compare(const Temporal& left,
                             const Temporal& right);  // of one kind, or Date with DateTime

// --- packed: integers that order like the values (MySQL's own layout) ---
int64_t pack(const Temporal& value);
Temporal unpack(int64_t packed, Temporal::Kind kind, uint8_t decimals);

// --- row images; big-endian and, but for DATE, in byte order of the values ---
void append_date(std::string& out, const Temporal& value);                    // 3 bytes little-endian
void append_time2(std::string& out, const Temporal& value, uint8_t fsp);      // 3 + fraction
void append_datetime2(std::string& out, const Temporal& value, uint8_t fsp);  // 5 + fraction
void append_timestamp2(std::string& out, const Temporal& utc, uint8_t fsp);   // 4 + fraction
Temporal load_date(const char* from);
Temporal load_time2(const char* from, uint8_t fsp);
Temporal load_datetime2(const char* from, uint8_t fsp);
Temporal load_timestamp2(const char* from, uint8_t fsp);
inline size_t fraction_size(uint8_t fsp) {
  return (fsp + 1u) / 2;
}

}  // namespace commitd

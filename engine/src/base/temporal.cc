#include "base/temporal.h"

#include <array>

#include "base/packed_int.h"

namespace commitd {

namespace {

constexpr std::array<uint32_t, 7> kMicrosPerUnit = {1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
constexpr int64_t kDateTimeOffset = 0x8000000000;
constexpr int64_t kTimeOffset = 0x800000;
constexpr int64_t kMarchOfYear0 = 719468;  // days from 0000-03-01 to 1970-01-01

int64_t pack_date_and_clock(const Temporal& value) {
  const int64_t date = (value.year * 13ll + value.month) << 5 | value.day;
  const int64_t clock = static_cast<int64_t>(value.hour) << 12 | value.minute << 6 | value.second;
  return date << 17 | clock;
}

void unpack_date_and_clock(int64_t packed, Temporal& value) {
  const int64_t date = packed >> 17, clock = packed & 0x1ffff;
  value.day = static_cast<uint8_t>(date & 31);
  value.month = static_cast<uint8_t>((date >> 5) % 13);
  value.year = static_cast<uint16_t>((date >> 5) / 13);
  value.hour = static_cast<uint32_t>(clock >> 12);
  value.minute = static_cast<uint8_t>(clock >> 6 & 63);
  value.second = static_cast<uint8_t>(clock & 63);
}

// The fraction as MySQL stores it: 1, 2 or 3 bytes in units of 1/100, 1/10000, 1/1000000 second.
uint32_t stored_fraction(uint32_t microsecond, uint8_t fsp) {
  constexpr std::array<uint32_t, 4> kDivisors = {1'000'000, 10'000, 100, 1};
  const uint32_t rounded_down = microsecond / kMicrosPerUnit[fsp] * kMicrosPerUnit[fsp];
  return fsp == 0 ? 0 : rounded_down / kDivisors[fraction_size(fsp)];
}

uint32_t micros_of_fraction(uint64_t stored, uint8_t fsp) {
  constexpr std::array<uint32_t, 4> kFactors = {0, 10'000, 100, 1};
  return static_cast<uint32_t>(stored) * kFactors[fraction_size(fsp)];
}

}  // namespace

bool is_valid_date(uint32_t year, uint32_t month, uint32_t day) {
  if (year == 0 && month == 0 && day == 0) return true;
  if (year > 9999 || month < 1 || month > 12 || day < 1) return false;
  constexpr std::array<uint32_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  // For MySQL the year 0 has no leap day.
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) && year != 0;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool is_zero_date(const Temporal& value) {
  return value.year == 0 && value.month == 0 && value.day == 0;
}

int64_t day_number(uint32_t year, uint32_t month, uint32_t day) {
  // Years start in March here, so that the leap day is the last one.
  const int64_t y = static_cast<int64_t>(year) - (month <= 2 ? 1 : 0);
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  const int64_t no_leap_day = year == 0 && month <= 2 ? 1 : 0;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year + no_leap_day -
         kMarchOfYear0;
}

Temporal date_from_day_number(int64_t days) {
  int64_t shifted = days + kMarchOfYear0;
  if (shifted < 0) --shifted;  // in front of the leap day that is none
  const int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const int64_t day_of_era = shifted - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  Temporal date;
  date.kind = Temporal::Kind::Date;
  date.day = static_cast<uint8_t>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  date.month = static_cast<uint8_t>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  date.year = static_cast<uint16_t>(year_of_era + era * 400 + (date.month <= 2 ? 1 : 0));
  return date;
}

int64_t to_unix_seconds(const Temporal& datetime) {
  return day_number(datetime.year, datetime.month, datetime.day) * 86400 + datetime.hour * 3600 +
         datetime.minute * 60 + datetime.second;
}

Temporal datetime_from_unix(int64_t seconds, uint32_t microsecond, uint8_t decimals) {
  int64_t days = seconds / 86400, rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  Temporal value = date_from_day_number(days);
  value.kind = Temporal::Kind::DateTime;
  value.hour = static_cast<uint32_t>(rest / 3600);
  value.minute = static_cast<uint8_t>(rest / 60 % 60);
  value.second = static_cast<uint8_t>(rest % 60);
  value.microsecond = microsecond;
  value.decimals = decimals;
  return value;
}

Temporal round_fraction(const Temporal& value, uint8_t decimals) {
  Temporal rounded = value;
  rounded.decimals = decimals;
  if (value.kind == Temporal::Kind::Date) return rounded;
  const uint32_t unit = kMicrosPerUnit[decimals];
  const uint32_t micros = (value.microsecond + unit / 2) / unit * unit;
  rounded.microsecond = micros % 1'000'000;
  if (micros < 1'000'000) return rounded;
  if (value.kind == Temporal::Kind::DateTime)
    return datetime_from_unix(to_unix_seconds(value) + 1, 0, decimals);
  const uint32_t seconds = value.hour * 3600 + value.minute * 60u + value.second + 1;
  rounded.hour = seconds / 3600;
  rounded.minute = static_cast<uint8_t>(seconds / 60 % 60);
  rounded.second = static_cast<uint8_t>(seconds % 60);
  return rounded;
}

int64_t pack(const Temporal& value) {
  if (value.kind != Temporal::Kind::Time) return pack_date_and_clock(value) << 24 | value.microsecond;
  const int64_t clock = static_cast<int64_t>(value.hour) << 12 | value.minute << 6 | value.second;
  const int64_t packed = clock << 24 | value.microsecond;
  return value.negative ? -packed : packed;
}

Temporal unpack(int64_t packed, Temporal::Kind kind, uint8_t decimals) {
  Temporal value;
  value.kind = kind;
  value.decimals = decimals;
  value.negative = packed < 0;
  const int64_t magnitude = packed < 0 ? -packed : packed;
  value.microsecond = static_cast<uint32_t>(magnitude & 0xffffff);
  unpack_date_and_clock(magnitude >> 24, value);
  if (kind == Temporal::Kind::Time) {
    value.hour = static_cast<uint32_t>(magnitude >> 36 & 0x3ff);
    value.year = value.month = value.day = 0;
  }
  return value;
}

std::strong_ordering compare(const Temporal& left, const Temporal& right) {
  return pack(left) <=> pack(right);
}

void append_date(std::string& out, const Temporal& value) {
  append_little_endian(out, value.day | value.month << 5 | static_cast<uint32_t>(value.year) << 9, 3);
}

Temporal load_date(const char* from) {
  const uint64_t packed = load_le(from, 3);
  Temporal value;
  value.kind = Temporal::Kind::Date;
  value.day = static_cast<uint8_t>(packed & 31);
  value.month = static_cast<uint8_t>(packed >> 5 & 15);
  value.year = static_cast<uint16_t>(packed >> 9);
  return value;
}

void append_datetime2(std::string& out, const Temporal& value, uint8_t fsp) {
  append_big_endian(out, static_cast<uint64_t>(pack_date_and_clock(value) + kDateTimeOffset), 5);
  append_big_endian(out, stored_fraction(value.microsecond, fsp), fraction_size(fsp));
}

Temporal load_datetime2(const char* from, uint8_t fsp) {
  Temporal value;
  value.decimals = fsp;
  unpack_date_and_clock(static_cast<int64_t>(load_be(from, 5)) - kDateTimeOffset, value);
  value.microsecond = micros_of_fraction(load_be(from + 5, fraction_size(fsp)), fsp);
  return value;
}

// A negative TIME is stored as the offset minus the packed magnitude over whole and fraction together, so a
// fraction borrows from the second in front of it.
void append_time2(std::string& out, const Temporal& value, uint8_t fsp) {
  const int64_t clock = static_cast<int64_t>(value.hour) << 12 | value.minute << 6 | value.second;
  const size_t bits = 8 * fraction_size(fsp);
  const int64_t packed = clock << bits | stored_fraction(value.microsecond, fsp);
  const int64_t offset = kTimeOffset << bits;
  append_big_endian(out, static_cast<uint64_t>(offset + (value.negative ? -packed : packed)),
                    3 + fraction_size(fsp));
}

Temporal load_time2(const char* from, uint8_t fsp) {
  const size_t bits = 8 * fraction_size(fsp);
  const int64_t offset = kTimeOffset << bits;
  const int64_t packed = static_cast<int64_t>(load_be(from, 3 + fraction_size(fsp))) - offset;
  const int64_t magnitude = packed < 0 ? -packed : packed;
  Temporal value;
  value.kind = Temporal::Kind::Time;
  value.decimals = fsp;
  value.negative = packed < 0;
  value.microsecond = micros_of_fraction(static_cast<uint64_t>(magnitude & ((int64_t{1} << bits) - 1)), fsp);
  const int64_t clock = magnitude >> bits;
  value.hour = static_cast<uint32_t>(clock >> 12 & 0x3ff);
  value.minute = static_cast<uint8_t>(clock >> 6 & 63);
  value.second = static_cast<uint8_t>(clock & 63);
  return value;
}

// The zero timestamp '0000-00-00 00:00:00' is second 0.
void append_timestamp2(std::string& out, const Temporal& utc, uint8_t fsp) {
  append_big_endian(out, is_zero_date(utc) ? 0 : static_cast<uint64_t>(to_unix_seconds(utc)), 4);
  append_big_endian(out, stored_fraction(utc.microsecond, fsp), fraction_size(fsp));
}

Temporal load_timestamp2(const char* from, uint8_t fsp) {
  const uint64_t seconds = load_be(from, 4);
  const uint32_t micros = micros_of_fraction(load_be(from + 4, fraction_size(fsp)), fsp);
  if (seconds == 0 && micros == 0) {
    Temporal zero;
    zero.decimals = fsp;
    return zero;
  }
  return datetime_from_unix(static_cast<int64_t>(seconds), micros, fsp);
}

}  // namespace commitd

#include "sql/functions/interval.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/expression.h"

namespace commitd::sql {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kLatest = 253'402'300'799;  // 9999-12-31 23:59:59
constexpr int64_t kEarliest = -62'167'219'200;
constexpr int64_t kLongestTime = 838 * kHour + 59 * kMinute + 59 * kSecond;
constexpr int64_t kMostMonths = 1'000'000;                        // far beyond the calendar
constexpr int64_t kMostMicroseconds = 1'000'000'000'000'000'000;  // likewise; a date can be added to it

struct Unit {
  std::string_view name;
  // How much one of each part is worth, the coarsest first; months are counted on their own.
  std::array<int64_t, 5> parts;
  uint8_t count;
  bool months = false;
};

constexpr Unit kUnits[] = {
    {"MICROSECOND", {1}, 1},
    {"SECOND", {kSecond}, 1},
    {"MINUTE", {kMinute}, 1},
    {"HOUR", {kHour}, 1},
    {"DAY", {kDay}, 1},
    {"WEEK", {7 * kDay}, 1},
    {"MONTH", {1}, 1, true},
    {"QUARTER", {3}, 1, true},
    {"YEAR", {12}, 1, true},
    {"YEAR_MONTH", {12, 1}, 2, true},
    {"DAY_HOUR", {kDay, kHour}, 2},
    {"DAY_MINUTE", {kDay, kHour, kMinute}, 3},
    {"DAY_SECOND", {kDay, kHour, kMinute, kSecond}, 4},
    {"DAY_MICROSECOND", {kDay, kHour, kMinute, kSecond, 1}, 5},
    {"HOUR_MINUTE", {kHour, kMinute}, 2},
    {"HOUR_SECOND", {kHour, kMinute, kSecond}, 3},
    {"HOUR_MICROSECOND", {kHour, kMinute, kSecond, 1}, 4},
    {"MINUTE_SECOND", {kMinute, kSecond}, 2},
    {"MINUTE_MICROSECOND", {kMinute, kSecond, 1}, 3},
    {"SECOND_MICROSECOND", {kSecond, 1}, 2},
};

// "1 2:3": the numbers in a text and how many digits the last of them has. Anything between numbers
// separates.
struct Numbers {
  std::array<__int128, 5> values{};
  size_t count = 0;
  size_t last_digits = 0;
  bool negative = false;
};

Numbers read_numbers(std::string_view text, size_t most) {
  Numbers numbers;
  size_t at = text.find_first_not_of(' ');
  if (at == std::string_view::npos) return numbers;
  numbers.negative = text[at] == '-';
  for (; at < text.size() && numbers.count < most; ++at) {
    if (text[at] < '0' || text[at] > '9') continue;
    __int128 value = 0;
    const size_t begin = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      value = std::min<__int128>(value * 10 + (text[at] - '0'), kMostMicroseconds);
    numbers.values[numbers.count++] = value;
    numbers.last_digits = at - begin;
  }
  return numbers;
}

// The numbers belong to the finest units when there are fewer of them than the unit has parts.
int64_t composite_amount(const Value& amount, const Unit& unit) {
  std::string scratch;
  Numbers numbers = read_numbers(text_view(amount, scratch), unit.count);
  const size_t first = unit.count - numbers.count;
  __int128 total = 0;
  for (size_t i = 0; i < numbers.count; ++i) {
    __int128 value = numbers.values[i];
    const bool fraction = first + i + 1 == unit.count && unit.parts[unit.count - 1] == 1 && !unit.months;
    for (size_t digits = numbers.last_digits; fraction && digits < 6; ++digits) value *= 10;
    total += value * unit.parts[first + i];
  }
  const auto bounded =
      static_cast<int64_t>(std::min<__int128>(total, unit.months ? kMostMonths : kMostMicroseconds));
  return numbers.negative ? -bounded : bounded;
}

std::optional<Temporal> add_months(Temporal t, int64_t months) {
  const int64_t total = t.year * 12 + (t.month - 1) + months;
  if (total < 0 || total > 9999 * 12 + 11) return std::nullopt;
  t.year = static_cast<uint16_t>(total / 12);
  t.month = static_cast<uint8_t>(total % 12 + 1);
  while (t.day > 28 && !is_valid_date(t.year, t.month, t.day)) --t.day;
  return t;
}

// Dates in texts may stand without a time, and the result of whole days then does so as well.
std::optional<Temporal> start_of(const Value& start) {
  if (start.kind() == Value::Kind::Temporal) return start.as_temporal();
  std::optional<Temporal> t = to_datetime(start);
  if (!t) return t;
  const std::string text = to_text(start);
  if (text.find(':') == std::string::npos && text.size() <= 10) return date_part(*t);
  return t;
}

}  // namespace

std::optional<Interval> read_interval(const Value& amount, std::string_view unit_name) {
  const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                  [&](const Unit& candidate) { return candidate.name == unit_name; });
  if (unit == std::end(kUnits)) return std::nullopt;
  Interval interval;
  interval.has_fraction = unit_name.find("MICROSECOND") != std::string_view::npos;
  interval.whole_days = unit->months || unit_name == "DAY" || unit_name == "WEEK";
  int64_t total = 0;
  if (unit->count > 1) {
    total = composite_amount(amount, *unit);
  } else if (unit_name == "SECOND") {
    const bool exact = amount.kind() == Value::Kind::Int || amount.kind() == Value::Kind::UInt;
    const double seconds = std::clamp(to_double(amount), -1e12, 1e12);
    interval.has_fraction =
        !exact && (amount.kind() != Value::Kind::Decimal || amount.as_decimal().scale > 0) &&
        (amount.kind() != Value::Kind::String || amount.as_string().find('.') != std::string::npos);
    total = std::llround(seconds * 1e6);
  } else if (unit_name == "MICROSECOND") {
    total = std::clamp(to_int64(amount), -kMostMicroseconds, kMostMicroseconds);
  } else {
    const __int128 most = unit->months ? kMostMonths : kMostMicroseconds;
    const __int128 exact = static_cast<__int128>(to_int64(amount)) * unit->parts[0];
    total = static_cast<int64_t>(std::clamp(exact, -most, most));
  }
  (unit->months ? interval.months : interval.microseconds) = total;
  return interval;
}

namespace {

Value overflow(Evaluation& e) {
  e.warn({er::kDatetimeFunctionOverflow, "Datetime function: datetime field overflow"});
  return Value::null();
}

}  // namespace

Value add_interval(Evaluation& e, const Value& start, const Interval& interval) {
  std::optional<Temporal> t = start_of(start);
  if (!t) return Value::null();
  const uint8_t decimals = interval.has_fraction ? 6 : t->decimals;
  if (t->kind == Temporal::Kind::Time) {
    const int64_t sum = microseconds_of(*t) + interval.microseconds;
    if (interval.months != 0 || std::llabs(sum) > kLongestTime) return overflow(e);
    return Value::temporal(*time_of_microseconds(sum, decimals));
  }
  if (is_zero_date(*t) || t->month == 0 || t->day == 0) return Value::null();
  if (interval.months != 0 || (interval.whole_days && interval.microseconds == 0)) {
    t = add_months(*t, interval.months);
    return t ? Value::temporal(*t) : overflow(e);
  }
  auto sum = datetime_of_microseconds(microseconds_of(*t) + interval.microseconds, decimals);
  if (!sum) return overflow(e);
  if (t->kind == Temporal::Kind::Date && interval.whole_days) sum = date_part(*sum);
  return Value::temporal(*sum);
}

Temporal date_part(Temporal t) {
  t.kind = Temporal::Kind::Date;
  t.hour = 0;
  t.minute = t.second = 0;
  t.microsecond = 0;
  t.decimals = 0;
  return t;
}

int64_t microseconds_of(const Temporal& t) {
  const int64_t clock = t.hour * kHour + t.minute * kMinute + t.second * kSecond + t.microsecond;
  if (t.kind == Temporal::Kind::Time) return t.negative ? -clock : clock;
  return day_number(t.year, t.month, t.day) * kDay + clock;
}

std::optional<Temporal> time_of_microseconds(int64_t microseconds, uint8_t decimals) {
  Temporal t;
  t.kind = Temporal::Kind::Time;
  t.negative = microseconds < 0;
  t.decimals = decimals;
  const int64_t magnitude = std::min(std::llabs(microseconds), static_cast<long long>(kLongestTime));
  t.hour = static_cast<uint32_t>(magnitude / kHour);
  t.minute = static_cast<uint8_t>(magnitude / kMinute % 60);
  t.second = static_cast<uint8_t>(magnitude / kSecond % 60);
  t.microsecond = static_cast<uint32_t>(magnitude % kSecond);
  return t;
}

std::optional<Temporal> datetime_of_microseconds(int64_t microseconds, uint8_t decimals) {
  int64_t seconds = microseconds / kSecond, rest = microseconds % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  if (seconds < kEarliest || seconds > kLatest) return std::nullopt;
  Temporal sum = datetime_from_unix(seconds, static_cast<uint32_t>(rest), decimals);
  if (sum.year == 0) sum.month = sum.day = 0;  // MySQL finds no date for the days of that year
  return sum;
}

}  // namespace commitd::sql

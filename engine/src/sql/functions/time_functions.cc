#include <algorithm>
#include <cmath>

#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/conversion.h"
#include "sql/functions/functions.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kDay = 86400;

// The time the statement started, as the session's time zone shows it.
Temporal local_now(Evaluation& e, uint8_t decimals) {
  const int64_t now = e.session().statement_microseconds;
  const Temporal t = datetime_from_unix(now / kSecond + e.session().settings.time_zone_offset,
                                        static_cast<uint32_t>(now % kSecond), 6);
  Temporal cut = t;
  uint32_t unit = 1;
  for (uint8_t i = decimals; i < 6; ++i) unit *= 10;
  cut.microsecond -= cut.microsecond % unit;
  cut.decimals = decimals;
  return cut;
}

Temporal date_part(Temporal t) {
  t.kind = Temporal::Kind::Date;
  t.hour = 0;
  t.minute = t.second = 0;
  t.microsecond = 0;
  t.decimals = 0;
  return t;
}

uint8_t precision(Values a) {
  return a.empty() ? 0 : static_cast<uint8_t>(std::clamp<int64_t>(to_int64(a[0]), 0, 6));
}

Value now(Evaluation& e, Values a) {
  return Value::temporal(local_now(e, precision(a)));
}
Value current_date(Evaluation& e, Values) {
  return Value::temporal(date_part(local_now(e, 0)));
}
Value current_time(Evaluation& e, Values a) {
  Temporal t = local_now(e, precision(a));
  t.kind = Temporal::Kind::Time;
  t.year = 0;
  t.month = t.day = 0;
  return Value::temporal(t);
}
Value utc_timestamp(Evaluation& e, Values a) {
  const int64_t microseconds = e.session().statement_microseconds;
  const uint8_t decimals = precision(a);
  return Value::temporal(datetime_from_unix(
      microseconds / kSecond, decimals ? static_cast<uint32_t>(microseconds % kSecond) : 0, decimals));
}

Value unix_timestamp(Evaluation& e, Values a) {
  if (a.empty()) return Value::integer(e.session().statement_microseconds / kSecond);
  const auto t = to_datetime(a[0]);
  if (!t) return Value::integer(0);
  const int64_t seconds = std::max<int64_t>(to_unix_seconds(*t) - e.session().settings.time_zone_offset, 0);
  if (t->decimals == 0) return Value::integer(seconds);
  return Value::decimal({static_cast<__int128>(seconds) * kSecond + t->microsecond, 6});
}

std::string format_time(const Temporal& t, std::string_view format);

Value from_unixtime(Evaluation& e, Values a) {
  const double seconds = to_double(a[0]);
  if (seconds < 0 || seconds > 253402300799.0) return Value::null();
  const auto whole = static_cast<int64_t>(seconds);
  const bool fraction = a[0].kind() == Value::Kind::Decimal && a[0].as_decimal().scale > 0;
  const auto micro =
      fraction ? static_cast<uint32_t>(std::llround((seconds - static_cast<double>(whole)) * 1e6)) : 0;
  const Temporal t =
      datetime_from_unix(whole + e.session().settings.time_zone_offset, micro, fraction ? 6 : 0);
  return a.size() > 1 ? Value::string(format_time(t, to_text(a[1]))) : Value::temporal(t);
}

template <class Read>
Value part(const Value& v, Read read) {
  const auto t = to_datetime(v);
  return t ? Value::integer(read(*t)) : Value::null();
}
template <class Read>
Value clock_part(const Value& v, Read read) {
  auto t = v.kind() == Value::Kind::Temporal ? std::optional(v.as_temporal()) : to_datetime(v);
  if (!t) t = to_time(v);
  return t ? Value::integer(read(*t)) : Value::null();
}

Value year(Evaluation&, Values a) {
  return part(a[0], [](const Temporal& t) { return t.year; });
}
Value month(Evaluation&, Values a) {
  return part(a[0], [](const Temporal& t) { return t.month; });
}
Value day(Evaluation&, Values a) {
  return part(a[0], [](const Temporal& t) { return t.day; });
}
Value quarter(Evaluation&, Values a) {
  return part(a[0], [](const Temporal& t) { return (t.month + 2) / 3; });
}
Value hour(Evaluation&, Values a) {
  return clock_part(a[0], [](const Temporal& t) { return t.hour; });
}
Value minute(Evaluation&, Values a) {
  return clock_part(a[0], [](const Temporal& t) { return t.minute; });
}
Value second(Evaluation&, Values a) {
  return clock_part(a[0], [](const Temporal& t) { return t.second; });
}
Value microsecond(Evaluation&, Values a) {
  return clock_part(a[0], [](const Temporal& t) { return t.microsecond; });
}

int64_t days(const Temporal& t) {
  return day_number(t.year, t.month, t.day);
}
int64_t monday_based(const Temporal& t) {
  return ((days(t) + 3) % 7 + 7) % 7;
}  // 1970-01-01 was a Thursday
int64_t day_in_year(const Temporal& t) {
  return days(t) - day_number(t.year, 1, 1) + 1;
}

Value weekday(Evaluation&, Values a) {
  return part(a[0], monday_based);
}
Value day_of_week(Evaluation&, Values a) {
  return part(a[0], [](const Temporal& t) { return (monday_based(t) + 1) % 7 + 1; });
}
Value day_of_year(Evaluation&, Values a) {
  return part(a[0], day_in_year);
}
Value to_days(Evaluation&, Values a) {
  return part(a[0], [](const Temporal& t) { return days(t) + 719528; });
}
Value last_day(Evaluation&, Values a) {
  auto t = to_datetime(a[0]);
  if (!t) return Value::null();
  const int64_t next_month =
      t->month == 12 ? day_number(t->year + 1u, 1, 1) : day_number(t->year, t->month + 1u, 1);
  return Value::temporal(date_from_day_number(next_month - 1));
}
Value date(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  return t ? Value::temporal(date_part(*t)) : Value::null();
}
Value time(Evaluation&, Values a) {
  const auto t = to_time(a[0]);
  return t ? Value::temporal(*t) : Value::null();
}
Value date_diff(Evaluation&, Values a) {
  const auto l = to_datetime(a[0]), r = to_datetime(a[1]);
  return l && r ? Value::integer(days(*l) - days(*r)) : Value::null();
}

constexpr const char* kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                   "July",    "August",   "September", "October", "November", "December"};
constexpr const char* kDays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                 "Friday", "Saturday", "Sunday"};

Value day_name(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  return t ? Value::string(kDays[monday_based(*t)]) : Value::null();
}
Value month_name(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  return t && t->month > 0 ? Value::string(kMonths[t->month - 1]) : Value::null();
}

std::string ordinal(unsigned n) {
  const char* suffix = n / 10 == 1   ? "th"
                       : n % 10 == 1 ? "st"
                       : n % 10 == 2 ? "nd"
                       : n % 10 == 3 ? "rd"
                                     : "th";
  return fmt::format("{}{}", n, suffix);
}

std::string format_specifier(const Temporal& t, char c) {
  const unsigned hour12 = t.hour % 12 == 0 ? 12 : t.hour % 12;
  const char* half = t.hour % 24 < 12 ? "AM" : "PM";
  switch (c) {
    case 'Y':
      return fmt::format("{:04}", t.year);
    case 'y':
      return fmt::format("{:02}", t.year % 100);
    case 'm':
      return fmt::format("{:02}", t.month);
    case 'c':
      return fmt::format("{}", t.month);
    case 'd':
      return fmt::format("{:02}", t.day);
    case 'e':
      return fmt::format("{}", t.day);
    case 'D':
      return ordinal(t.day);
    case 'H':
      return fmt::format("{:02}", t.hour);
    case 'k':
      return fmt::format("{}", t.hour);
    case 'h':
    case 'I':
      return fmt::format("{:02}", hour12);
    case 'l':
      return fmt::format("{}", hour12);
    case 'i':
      return fmt::format("{:02}", t.minute);
    case 's':
    case 'S':
      return fmt::format("{:02}", t.second);
    case 'f':
      return fmt::format("{:06}", t.microsecond);
    case 'p':
      return half;
    case 'T':
      return fmt::format("{:02}:{:02}:{:02}", t.hour, t.minute, t.second);
    case 'r':
      return fmt::format("{:02}:{:02}:{:02} {}", hour12, t.minute, t.second, half);
    case 'M':
      return t.month > 0 ? kMonths[t.month - 1] : "";
    case 'b':
      return t.month > 0 ? std::string(kMonths[t.month - 1]).substr(0, 3) : "";
    case 'W':
      return kDays[monday_based(t)];
    case 'a':
      return std::string(kDays[monday_based(t)]).substr(0, 3);
    case 'w':
      return fmt::format("{}", (monday_based(t) + 1) % 7);
    case 'j':
      return fmt::format("{:03}", day_in_year(t));
    default:
      return std::string(1, c);
  }
}

std::string format_time(const Temporal& t, std::string_view format) {
  std::string result;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '%' && i + 1 < format.size())
      result += format_specifier(t, format[++i]);
    else
      result.push_back(format[i]);
  }
  return result;
}

Value date_format(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  return t ? Value::string(format_time(*t, to_text(a[1]))) : Value::null();
}

Value add_months(Temporal t, int64_t months, Evaluation&) {
  const int64_t total = t.year * 12 + (t.month - 1) + months;
  if (total < 0 || total > 9999 * 12 + 11) return Value::null();
  t.year = static_cast<uint16_t>(total / 12);
  t.month = static_cast<uint8_t>(total % 12 + 1);
  while (t.day > 28 && !is_valid_date(t.year, t.month, t.day)) --t.day;
  return Value::temporal(t);
}

Value add_microseconds(const Temporal& t, int64_t amount, bool clock) {
  const int64_t total = to_unix_seconds(t) * kSecond + t.microsecond + amount;
  const int64_t seconds = total >= 0 ? total / kSecond : -((-total + kSecond - 1) / kSecond);
  const auto rest = static_cast<uint32_t>(total - seconds * kSecond);
  Temporal result = datetime_from_unix(seconds, rest, rest != 0 ? uint8_t{6} : t.decimals);
  if (t.kind == Temporal::Kind::Date && !clock) result = date_part(result);
  return Value::temporal(result);
}

// "1:30" HOUR_MINUTE and so on are not taken apart: single units only.
Value add_interval(Evaluation& e, const Value& start, const Value& amount, const std::string& unit,
                   int sign) {
  std::optional<Temporal> t =
      start.kind() == Value::Kind::Temporal ? std::optional(start.as_temporal()) : to_datetime(start);
  if (!t) return Value::null();
  if (start.kind() == Value::Kind::String && to_text(start).size() <= 10) *t = date_part(*t);
  const int64_t n = sign * to_int64(amount);
  if (unit == "YEAR") return add_months(*t, n * 12, e);
  if (unit == "QUARTER") return add_months(*t, n * 3, e);
  if (unit == "MONTH") return add_months(*t, n, e);
  if (unit == "WEEK") return add_microseconds(*t, n * 7 * kDay * kSecond, false);
  if (unit == "DAY") return add_microseconds(*t, n * kDay * kSecond, false);
  if (unit == "HOUR") return add_microseconds(*t, n * 3600 * kSecond, true);
  if (unit == "MINUTE") return add_microseconds(*t, n * 60 * kSecond, true);
  if (unit == "SECOND") return add_microseconds(*t, std::llround(sign * to_double(amount) * 1e6), true);
  if (unit == "MICROSECOND") return add_microseconds(*t, n, true);
  e.fail(make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support 'INTERVAL … {}'", unit));
  return Value::null();
}

Value date_add(Evaluation& e, Values a) {
  return add_interval(e, a[0], a[1], a[2].as_string(), 1);
}
Value date_sub(Evaluation& e, Values a) {
  return add_interval(e, a[0], a[1], a[2].as_string(), -1);
}
Value timestamp_add(Evaluation& e, Values a) {
  return add_interval(e, a[2], a[1], a[0].as_string(), 1);
}

Value timestamp_diff(Evaluation&, Values a) {
  const auto from = to_datetime(a[1]), to = to_datetime(a[2]);
  if (!from || !to) return Value::null();
  const std::string& unit = a[0].as_string();
  const int64_t microseconds =
      (to_unix_seconds(*to) - to_unix_seconds(*from)) * kSecond + to->microsecond - from->microsecond;
  if (unit == "YEAR" || unit == "QUARTER" || unit == "MONTH") {
    int64_t months = (to->year - from->year) * 12 + to->month - from->month;
    auto rest = [](const Temporal& t) {
      return ((t.day * 24ll + t.hour) * 3600 + t.minute * 60 + t.second) * kSecond + t.microsecond;
    };
    if (months > 0 && rest(*to) < rest(*from)) --months;
    if (months < 0 && rest(*to) > rest(*from)) ++months;
    return Value::integer(unit == "YEAR" ? months / 12 : unit == "QUARTER" ? months / 3 : months);
  }
  const int64_t size = unit == "WEEK"     ? 7 * kDay * kSecond
                       : unit == "DAY"    ? kDay * kSecond
                       : unit == "HOUR"   ? 3600 * kSecond
                       : unit == "MINUTE" ? 60 * kSecond
                       : unit == "SECOND" ? kSecond
                                          : 1;
  return Value::integer(microseconds / size);
}

Value extract(Evaluation& e, Values a) {
  const std::string& unit = a[1].as_string();
  for (const FunctionSpec& spec : time_functions()) {
    if (spec.name == unit) return spec.body(e, a.first(1));
  }
  e.fail(make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support 'EXTRACT({} …)'", unit));
  return Value::null();
}

Value time_to_seconds(Evaluation&, Values a) {
  const auto t = to_time(a[0]);
  if (!t) return Value::null();
  const int64_t seconds = t->hour * 3600ll + t->minute * 60 + t->second;
  return Value::integer(t->negative ? -seconds : seconds);
}

ValueType fractional_now(Types types) {
  return ValueType::datetime(types.empty() ? 0 : 6);
}
ValueType time_type(Types) {
  return {FieldType::Time, 63, 10, 0, false, true, ValueType::Strength::Weak};
}
ValueType shifted_type(Types types) {
  return types[0].type == FieldType::Date ? types[0] : ValueType::datetime(types[0].decimals);
}

constexpr FunctionSpec kFunctions[] = {
    {"NOW", 0, 1, true, now, fractional_now},
    {"SYSDATE", 0, 1, true, now, fractional_now},
    {"CURRENT_TIMESTAMP", 0, 1, true, now, fractional_now},
    {"LOCALTIME", 0, 1, true, now, fractional_now},
    {"LOCALTIMESTAMP", 0, 1, true, now, fractional_now},
    {"CURDATE", 0, 0, true, current_date, date_type},
    {"CURRENT_DATE", 0, 0, true, current_date, date_type},
    {"CURTIME", 0, 1, true, current_time, time_type},
    {"CURRENT_TIME", 0, 1, true, current_time, time_type},
    {"UTC_TIMESTAMP", 0, 1, true, utc_timestamp, fractional_now},
    {"UNIX_TIMESTAMP", 0, 1, true, unix_timestamp, integer_type},
    {"FROM_UNIXTIME", 1, 2, true, from_unixtime, datetime_type},
    {"YEAR", 1, 1, true, year, integer_type},
    {"MONTH", 1, 1, true, month, integer_type},
    {"DAY", 1, 1, true, day, integer_type},
    {"DAYOFMONTH", 1, 1, true, day, integer_type},
    {"QUARTER", 1, 1, true, quarter, integer_type},
    {"HOUR", 1, 1, true, hour, integer_type},
    {"MINUTE", 1, 1, true, minute, integer_type},
    {"SECOND", 1, 1, true, second, integer_type},
    {"MICROSECOND", 1, 1, true, microsecond, integer_type},
    {"WEEKDAY", 1, 1, true, weekday, integer_type},
    {"DAYOFWEEK", 1, 1, true, day_of_week, integer_type},
    {"DAYOFYEAR", 1, 1, true, day_of_year, integer_type},
    {"DAYNAME", 1, 1, true, day_name, text_type},
    {"MONTHNAME", 1, 1, true, month_name, text_type},
    {"TO_DAYS", 1, 1, true, to_days, integer_type},
    {"LAST_DAY", 1, 1, true, last_day, date_type},
    {"DATE", 1, 1, true, date, date_type},
    {"TIME", 1, 1, true, time, time_type},
    {"DATEDIFF", 2, 2, true, date_diff, integer_type},
    {"DATE_FORMAT", 2, 2, true, date_format, text_type},
    {"DATE_ADD", 3, 3, true, date_add, shifted_type},
    {"DATE_SUB", 3, 3, true, date_sub, shifted_type},
    {"ADDDATE", 3, 3, true, date_add, shifted_type},
    {"SUBDATE", 3, 3, true, date_sub, shifted_type},
    {"TIMESTAMPADD", 3, 3, true, timestamp_add, datetime_type},
    {"TIMESTAMPDIFF", 3, 3, true, timestamp_diff, integer_type},
    {"EXTRACT", 2, 2, true, extract, integer_type},
    {"TIME_TO_SEC", 1, 1, true, time_to_seconds, integer_type},
};

}  // namespace

std::span<const FunctionSpec> time_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

#include <algorithm>
#include <cmath>

#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/times_and_dates.h"
#include "sql/functions/date_text.h"
#include "sql/functions/functions.h"
#include "sql/functions/interval.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

constexpr int64_t kSecond = 1'000'000;

Value text_or_null(std::optional<std::string> text) {
  return text ? Value::string(*std::move(text)) : Value::null();
}

// The time the statement started, `offset` seconds east of Greenwich.
Temporal start_of_statement(Evaluation& e, int64_t offset, uint8_t decimals) {
  const int64_t now = e.session().statement_microseconds;
  Temporal t = datetime_from_unix(now / kSecond + offset, static_cast<uint32_t>(now % kSecond), 6);
  uint32_t unit = 1;
  for (uint8_t i = decimals; i < 6; ++i) unit *= 10;
  t.microsecond -= t.microsecond % unit;
  t.decimals = decimals;
  return t;
}

// As the session's time zone shows it.
Temporal local_now(Evaluation& e, uint8_t decimals) {
  return start_of_statement(e, e.session().settings.time_zone_offset, decimals);
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
  return Value::temporal(start_of_statement(e, 0, precision(a)));
}
Value utc_date(Evaluation& e, Values) {
  return Value::temporal(date_part(start_of_statement(e, 0, 0)));
}
Value utc_time(Evaluation& e, Values a) {
  return Value::temporal(*to_time(utc_timestamp(e, a)));
}

Value unix_timestamp(Evaluation& e, Values a) {
  if (a.empty()) return Value::integer(e.session().statement_microseconds / kSecond);
  const auto t = to_datetime(a[0]);
  if (!t) return Value::integer(0);
  const int64_t seconds = std::max<int64_t>(to_unix_seconds(*t) - e.session().settings.time_zone_offset, 0);
  if (t->decimals == 0) return Value::integer(seconds);
  return Value::decimal({static_cast<__int128>(seconds) * kSecond + t->microsecond, 6});
}

Value from_unixtime(Evaluation& e, Values a) {
  const double seconds = to_double(a[0]);
  if (seconds < 0 || seconds > 253402300799.0) return Value::null();
  const auto whole = static_cast<int64_t>(seconds);
  const bool fraction = a[0].kind() == Value::Kind::Decimal && a[0].as_decimal().scale > 0;
  const auto micro =
      fraction ? static_cast<uint32_t>(std::llround((seconds - static_cast<double>(whole)) * 1e6)) : 0;
  const Temporal t =
      datetime_from_unix(whole + e.session().settings.time_zone_offset, micro, fraction ? 6 : 0);
  if (a.size() == 1) return Value::temporal(t);
  return text_or_null(format_by(t, to_text(a[1])));
}

template <class Read>
Value part(const Value& v, Read read) {
  const auto t = to_datetime(v);
  return t ? Value::integer(read(*t)) : Value::null();
}
template <class Read>
Value clock_part(Evaluation& e, const Value& v, Read read) {
  const auto t = clock_wanted(v, e);
  return t ? Value::integer(read(*t)) : Value::null();
}

std::optional<Temporal> time_of(Evaluation& e, const Value& value) {
  const auto t = clock_wanted(value, e);
  return t ? to_time(Value::temporal(*t)) : std::nullopt;
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
Value hour(Evaluation& e, Values a) {
  return clock_part(e, a[0], [](const Temporal& t) { return t.hour; });
}
Value minute(Evaluation& e, Values a) {
  return clock_part(e, a[0], [](const Temporal& t) { return t.minute; });
}
Value second(Evaluation& e, Values a) {
  return clock_part(e, a[0], [](const Temporal& t) { return t.second; });
}
Value microsecond(Evaluation& e, Values a) {
  return clock_part(e, a[0], [](const Temporal& t) { return t.microsecond; });
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
  return part(a[0], [](const Temporal& t) { return days_of(t) + 719528; });
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
Value time(Evaluation& e, Values a) {
  const auto t = time_of(e, a[0]);
  return t ? Value::temporal(*t) : Value::null();
}
Value date_diff(Evaluation&, Values a) {
  const auto l = to_datetime(a[0]), r = to_datetime(a[1]);
  return l && r ? Value::integer(days_of(*l) - days_of(*r)) : Value::null();
}

Value day_name(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  return t ? Value::string(kDayNames[monday_based(*t)]) : Value::null();
}
Value month_name(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  return t && t->month > 0 ? Value::string(kMonthNames[t->month - 1]) : Value::null();
}

Value date_format(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  return t ? text_or_null(format_by(*t, to_text(a[1]))) : Value::null();
}
Value time_format(Evaluation& e, Values a) {
  const auto t = time_of(e, a[0]);
  return t ? text_or_null(format_by(*t, to_text(a[1]))) : Value::null();
}
Value get_format(Evaluation&, Values a) {
  return text_or_null(standard_format(a[0].as_string(), to_text(a[1])));
}
Value str_to_date(Evaluation& e, Values a) {
  const std::string text = to_text(a[0]);
  const std::string format = to_text(a[1]);
  const auto t = parse_by(text, format);
  const uint64_t mode = e.session().settings.sql_mode;
  const bool dated = t && t->kind != Temporal::Kind::Time;
  const bool refused =
      dated && (is_zero_date(*t) ? (mode & sql_mode::kNoZeroDate) != 0
                                 : (t->month == 0 || t->day == 0) && (mode & sql_mode::kNoZeroInDate) != 0);
  if (t && !refused) return Value::temporal(*t);
  e.warn(make_error(er::kWrongValueForType, "Incorrect datetime value: '{}' for function str_to_date", text));
  return Value::null();
}

unsigned week_mode(Values a) {
  return a.size() > 1 ? static_cast<unsigned>(to_int64(a[1])) & 7 : 0;
}
Value week(Evaluation&, Values a) {
  return part(a[0], [&](const Temporal& t) { return week_of(t, week_mode(a)).week; });
}
Value week_of_year(Evaluation&, Values a) {
  return part(a[0], [](const Temporal& t) { return week_of(t, 3).week; });
}
Value year_week(Evaluation&, Values a) {
  return part(a[0], [&](const Temporal& t) {
    const YearWeek found = week_of(t, week_mode(a) | 2);
    return found.year * 100 + found.week;
  });
}

// EXTRACT(DAY_MINUTE FROM …): the parts from the first to the last one, as digits of one number.
std::optional<Value> extract_range(const Value& value, std::string_view unit) {
  static constexpr std::string_view kParts[] = {"DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND"};
  const size_t underscore = unit.find('_');
  if (underscore == std::string_view::npos) return std::nullopt;
  const auto t = unit == "YEAR_MONTH" ? to_datetime(value) : to_clock(value);
  if (!t) return Value::null();
  if (unit == "YEAR_MONTH") return Value::integer(t->year * 100 + t->month);
  const int64_t numbers[] = {t->kind == Temporal::Kind::Time ? 0 : t->day, t->hour, t->minute, t->second,
                             t->microsecond};
  int64_t result = 0;
  bool inside = false;
  for (size_t i = 0; i < std::size(kParts); ++i) {
    inside |= kParts[i] == unit.substr(0, underscore);
    if (inside) result = result * (i == 4 ? kSecond : 100) + numbers[i];
    if (kParts[i] == unit.substr(underscore + 1)) break;
  }
  return Value::integer(t->negative ? -result : result);
}

Value extract(Evaluation& e, Values a) {
  const std::string& unit = a[1].as_string();
  if (const auto range = extract_range(a[0], unit)) return *range;
  for (const FunctionSpec& spec : time_functions()) {
    if (spec.name != unit) continue;
    Value value = spec.body(e, a.first(1));
    const auto t = to_clock(a[0]);
    return t && t->negative && !value.is_null() ? Value::integer(-value.as_int()) : value;
  }
  return Value::null();
}

Value time_to_seconds(Evaluation& e, Values a) {
  const auto t = time_of(e, a[0]);
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
// The precision of NOW(3).
void refine_now(const Expressions& arguments, ValueType& type) {
  const auto* digits = arguments.empty() ? nullptr : dynamic_cast<const Constant*>(arguments[0].get());
  if (digits != nullptr && !digits->value().is_null())
    type.decimals = static_cast<uint8_t>(std::clamp<int64_t>(to_int64(digits->value()), 0, 6));
}
ValueType time_of_type(Types types) {
  ValueType type = time_type(types);
  type.decimals = types[0].is_temporal() ? types[0].decimals : types[0].is_string() ? uint8_t{6} : uint8_t{0};
  return type;
}
void refine_str_to_date(const Expressions& arguments, ValueType& type) {
  const auto* format = dynamic_cast<const Constant*>(arguments[1].get());
  type.decimals = 6;
  if (format == nullptr || format->value().is_null()) return;
  const std::string text = to_text(format->value());
  const Temporal::Kind kind = kind_of_format(text);
  type.type = kind == Temporal::Kind::Date   ? FieldType::Date
              : kind == Temporal::Kind::Time ? FieldType::Time
                                             : FieldType::DateTime;
  type.decimals = format_has_fraction(text) ? 6 : 0;
}
void refine_unix(const Expressions& arguments, ValueType& type) {
  const uint8_t digits = arguments.empty() ? uint8_t{0} : second_digits(*arguments[0]);
  type = digits == 0 ? ValueType::integer() : ValueType::decimal(11u + digits, digits);
}
ValueType unix_type(Types types) {
  const bool whole = types.empty() || (types[0].is_temporal() && types[0].decimals == 0);
  return whole ? ValueType::integer()
               : ValueType::decimal(17, types[0].is_temporal() ? types[0].decimals : 6);
}

constexpr FunctionSpec kFunctions[] = {
    {"NOW", 0, 1, true, now, fractional_now, refine_now},
    {"SYSDATE", 0, 1, true, now, fractional_now, refine_now},
    {"CURRENT_TIMESTAMP", 0, 1, true, now, fractional_now, refine_now},
    {"LOCALTIME", 0, 1, true, now, fractional_now, refine_now},
    {"LOCALTIMESTAMP", 0, 1, true, now, fractional_now, refine_now},
    {"CURDATE", 0, 0, true, current_date, date_type},
    {"CURRENT_DATE", 0, 0, true, current_date, date_type},
    {"CURTIME", 0, 1, true, current_time, time_type, refine_now},
    {"CURRENT_TIME", 0, 1, true, current_time, time_type, refine_now},
    {"UTC_TIMESTAMP", 0, 1, true, utc_timestamp, fractional_now, refine_now},
    {"UTC_DATE", 0, 0, true, utc_date, date_type},
    {"UTC_TIME", 0, 1, true, utc_time, time_type, refine_now},
    {"GET_FORMAT", 2, 2, true, get_format, text_type},
    {"UNIX_TIMESTAMP", 0, 1, true, unix_timestamp, unix_type, refine_unix},
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
    {"TIME", 1, 1, true, time, time_of_type, refine_second_digits},
    {"DATEDIFF", 2, 2, true, date_diff, integer_type},
    {"DATE_FORMAT", 2, 2, true, date_format, text_type},
    {"TIME_FORMAT", 2, 2, true, time_format, text_type},
    {"STR_TO_DATE", 2, 2, true, str_to_date, datetime_type, refine_str_to_date},
    {"WEEK", 1, 2, true, week, integer_type},
    {"WEEKOFYEAR", 1, 1, true, week_of_year, integer_type},
    {"YEARWEEK", 1, 2, true, year_week, integer_type},
    {"EXTRACT", 2, 2, true, extract, integer_type},
    {"TIME_TO_SEC", 1, 1, true, time_to_seconds, integer_type},
};

}  // namespace

std::span<const FunctionSpec> time_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

// Functions that compute with dates and times.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/temporal.h"
#include "sql/expression/conversion.h"
#include "sql/functions/date_text.h"
#include "sql/functions/functions.h"
#include "sql/functions/interval.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kDay = 86400;
constexpr int64_t kDaysBefore1970 = 719528;  // since year 0, as TO_DAYS counts

Value temporal_or_null(const std::optional<Temporal>& t) {
  return t ? Value::temporal(*t) : Value::null();
}

Value shifted(Evaluation& e, const Value& start, const Value& amount, const std::string& unit, int sign) {
  std::optional<Interval> interval = read_interval(amount, unit);
  if (!interval) return Value::null();
  interval->months *= sign;
  interval->microseconds *= sign;
  Value result = add_interval(e, start, *interval);
  // A text gives a text: its form follows the value, not a type.
  return start.kind() == Value::Kind::String && !result.is_null() ? Value::string(result.to_text()) : result;
}
Value date_add(Evaluation& e, Values a) {
  return shifted(e, a[0], a[1], a[2].as_string(), 1);
}
Value date_sub(Evaluation& e, Values a) {
  return shifted(e, a[0], a[1], a[2].as_string(), -1);
}
Value timestamp_add(Evaluation& e, Values a) {
  return shifted(e, a[2], a[1], a[0].as_string(), 1);
}

int64_t months_between(const Temporal& from, const Temporal& to) {
  int64_t months = (to.year - from.year) * 12 + to.month - from.month;
  auto rest = [](const Temporal& t) {
    return ((t.day * 24ll + t.hour) * 3600 + t.minute * 60 + t.second) * kSecond + t.microsecond;
  };
  if (months > 0 && rest(to) < rest(from)) --months;
  if (months < 0 && rest(to) > rest(from)) ++months;
  return months;
}

Value timestamp_diff(Evaluation&, Values a) {
  const auto from = to_datetime(a[1]), to = to_datetime(a[2]);
  if (!from || !to) return Value::null();
  const std::string& unit = a[0].as_string();
  if (unit == "YEAR") return Value::integer(months_between(*from, *to) / 12);
  if (unit == "QUARTER") return Value::integer(months_between(*from, *to) / 3);
  if (unit == "MONTH") return Value::integer(months_between(*from, *to));
  const auto one = read_interval(Value::integer(1), unit);
  if (!one || one->microseconds == 0) return Value::null();
  const int64_t difference = microseconds_of(*to) - microseconds_of(*from);
  return Value::integer(difference / one->microseconds);
}

// A date and time, or a time: what ADDTIME, TIMEDIFF and TIMESTAMP take.
std::optional<Temporal> clock_of(const Value& value) {
  if (value.kind() != Value::Kind::String) return to_clock(value);
  const std::string& text = value.as_string();
  const size_t first = text.find_first_not_of(' ');
  const size_t space = text.find(' ', first);
  const auto separates = [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; };
  const bool date_in_front =
      space != std::string::npos &&
      std::ranges::count_if(std::string_view(text).substr(first, space - first), separates) == 2;
  if (date_in_front || text.find('-', 1) != std::string::npos) return to_datetime(value);
  return to_time(value);
}

Value add_time_signed(Values a, int sign) {
  const auto start = clock_of(a[0]);
  const auto amount = clock_of(a[1]);
  if (!start || !amount || amount->kind != Temporal::Kind::Time) return Value::null();
  const int64_t sum = microseconds_of(*start) + sign * microseconds_of(*amount);
  // A text shows its fraction in full, or none.
  const bool text = a[0].kind() == Value::Kind::String;
  const auto of_text = sum % kSecond == 0 ? uint8_t{0} : uint8_t{6};
  const uint8_t decimals = text ? of_text : std::max(start->decimals, amount->decimals);
  Value result =
      temporal_or_null(start->kind == Temporal::Kind::Time ? time_of_microseconds(sum, decimals)
                                                           : datetime_of_microseconds(sum, decimals));
  return text && !result.is_null() ? Value::string(result.to_text()) : result;
}
Value add_time(Evaluation&, Values a) {
  return add_time_signed(a, 1);
}
Value sub_time(Evaluation&, Values a) {
  return add_time_signed(a, -1);
}

Value time_diff(Evaluation&, Values a) {
  const auto left = clock_of(a[0]), right = clock_of(a[1]);
  if (!left || !right) return Value::null();
  if ((left->kind == Temporal::Kind::Time) != (right->kind == Temporal::Kind::Time)) return Value::null();
  return temporal_or_null(time_of_microseconds(microseconds_of(*left) - microseconds_of(*right),
                                               std::max(left->decimals, right->decimals)));
}

Value timestamp(Evaluation&, Values a) {
  const auto date = to_datetime(a[0]);
  if (!date || a.size() == 1) return temporal_or_null(date);
  const auto clock = to_time(a[1]);
  if (!clock) return Value::null();
  return temporal_or_null(datetime_of_microseconds(microseconds_of(*date) + microseconds_of(*clock),
                                                   std::max(date->decimals, clock->decimals)));
}

Value seconds_to_time(Evaluation&, Values a) {
  const Decimal seconds = to_decimal(a[0]);
  const double amount = std::clamp(to_double(a[0]), -1e9, 1e9);
  const bool whole = a[0].kind() == Value::Kind::Int || a[0].kind() == Value::Kind::UInt;
  return temporal_or_null(time_of_microseconds(std::llround(amount * 1e6),
                                               whole ? uint8_t{0} : std::min<uint8_t>(seconds.scale, 6)));
}

Value make_date(Evaluation&, Values a) {
  int64_t year = to_int64(a[0]);
  const int64_t day = to_int64(a[1]);
  if (year < 0 || year > 9999 || day <= 0 || day > 4'000'000) return Value::null();
  if (year < 100) year += year < 70 ? 2000 : 1900;
  const Temporal date = date_from_day_number(day_number(static_cast<uint32_t>(year), 1, 1) + day - 1);
  return date.year > 9999 ? Value::null() : Value::temporal(date);
}

Value make_time(Evaluation&, Values a) {
  const int64_t hour = to_int64(a[0]), minute = to_int64(a[1]);
  const double second = to_double(a[2]);
  if (minute < 0 || minute > 59 || second < 0 || second >= 60) return Value::null();
  const int64_t hours = std::llabs(std::clamp<int64_t>(hour, -839, 839));
  const int64_t magnitude = (hours * 3600 + minute * 60) * kSecond + std::llround(second * 1e6);
  const bool whole = a[2].kind() == Value::Kind::Int || a[2].kind() == Value::Kind::UInt;
  const uint8_t scale =
      a[2].kind() == Value::Kind::Decimal ? std::min<uint8_t>(a[2].as_decimal().scale, 6) : 6;
  return temporal_or_null(
      time_of_microseconds(hour < 0 ? -magnitude : magnitude, whole ? uint8_t{0} : scale));
}

Value from_days(Evaluation&, Values a) {
  const int64_t days = to_int64(a[0]);
  if (days < 366 || days > 3'652'424) {
    Temporal zero;
    zero.kind = Temporal::Kind::Date;
    return days < 0 || days > 3'652'424 ? Value::null() : Value::temporal(zero);
  }
  return Value::temporal(date_from_day_number(days - kDaysBefore1970));
}

Value to_seconds(Evaluation&, Values a) {
  const auto t = to_datetime(a[0]);
  if (!t || t->month == 0 || t->day == 0) return Value::null();
  return Value::integer(to_unix_seconds(*t) + kDaysBefore1970 * kDay);
}

// Periods are YYMM or YYYYMM.
int64_t months_of_period(int64_t period) {
  int64_t year = period / 100;
  if (year < 100) year += year < 70 ? 2000 : 1900;
  return year * 12 + period % 100 - 1;
}
Value period_add(Evaluation&, Values a) {
  if (to_int64(a[0]) == 0) return Value::integer(0);
  const int64_t months = months_of_period(to_int64(a[0])) + to_int64(a[1]);
  return Value::integer(months / 12 * 100 + months % 12 + 1);
}
Value period_diff(Evaluation&, Values a) {
  return Value::integer(months_of_period(to_int64(a[0])) - months_of_period(to_int64(a[1])));
}

// Offsets "+02:00"; named zones are unknown here and give NULL, as in a server without time zone tables.
std::optional<int64_t> zone_offset(Evaluation& e, const std::string& zone) {
  if (zone == "SYSTEM") return 0;
  if (zone == "SESSION") return e.session().settings.time_zone_offset;
  if (zone.size() < 5 || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const size_t colon = zone.find(':');
  if (colon == std::string::npos) return std::nullopt;
  int hours = 0, minutes = 0;
  std::from_chars(zone.data() + 1, zone.data() + colon, hours);
  std::from_chars(zone.data() + colon + 1, zone.data() + zone.size(), minutes);
  if (minutes > 59 || hours > 14) return std::nullopt;
  const int64_t offset = (hours * 60 + minutes) * 60;
  return zone[0] == '-' ? -offset : offset;
}

Value convert_tz(Evaluation& e, Values a) {
  const auto t = to_datetime(a[0]);
  const auto from = zone_offset(e, to_text(a[1])), to = zone_offset(e, to_text(a[2]));
  if (!t || !from || !to || t->month == 0 || t->day == 0) return Value::null();
  const int64_t utc = to_unix_seconds(*t) - *from;
  if (utc < 1 || utc > INT32_MAX) return Value::temporal(*t);  // beyond TIMESTAMP: as it is
  return temporal_or_null(datetime_of_microseconds((utc + *to) * kSecond + t->microsecond, t->decimals));
}

ValueType time_type_of(uint8_t decimals) {
  return {FieldType::Time, 63, 10, decimals, false, true, ValueType::Strength::Weak};
}
uint8_t digits_of(const ValueType& type) {
  return type.is_temporal()  ? type.decimals
         : type.is_integer() ? uint8_t{0}
                             : std::min<uint8_t>(type.decimals, 6);
}
ValueType shifted_type(Types types) {
  if (types[0].type == FieldType::Date || types[0].type == FieldType::Time) return types[0];
  return types[0].is_temporal() ? ValueType::datetime(types[0].decimals) : ValueType::text(29);
}
void refine_by_unit(const Value& unit, const Expression& amount, ValueType& type) {
  const Value one = type_of_value(Value::integer(1)).type == amount.type().type || amount.type().is_integer()
                        ? Value::integer(1)
                    : amount.type().decimals > 0 ? Value::string("0.5")
                                                 : Value::string("1");
  const auto interval = read_interval(one, to_text(unit));
  if (!interval) return;
  if (type.type == FieldType::Date && !interval->whole_days) type = ValueType::datetime();
  if (interval->has_fraction && type.is_temporal() && type.type != FieldType::Date) type.decimals = 6;
}
void refine_shifted(const Expressions& arguments, ValueType& type) {
  if (const auto* unit = dynamic_cast<const Constant*>(arguments[2].get()))
    refine_by_unit(unit->value(), *arguments[1], type);
}
ValueType timestamp_add_type(Types types) {
  return shifted_type(types.subspan(2));
}
void refine_timestamp_add(const Expressions& arguments, ValueType& type) {
  if (const auto* unit = dynamic_cast<const Constant*>(arguments[0].get()))
    refine_by_unit(unit->value(), *arguments[1], type);
}
ValueType added_type(Types types) {
  const uint8_t decimals =
      std::max(digits_of(types[0]), types[1].is_string() ? uint8_t{6} : digits_of(types[1]));
  if (types[0].type == FieldType::Time) return time_type_of(decimals);
  return types[0].is_temporal() ? ValueType::datetime(decimals) : ValueType::text(29);
}
ValueType difference_type(Types types) {
  return time_type_of(std::max(types[0].is_string() ? uint8_t{6} : digits_of(types[0]),
                               types[1].is_string() ? uint8_t{6} : digits_of(types[1])));
}
ValueType timestamp_type(Types types) {
  uint8_t decimals = 0;
  for (const ValueType& type : types)
    decimals = std::max(decimals, type.is_string() ? uint8_t{6} : digits_of(type));
  return ValueType::datetime(decimals);
}
ValueType seconds_type(Types types) {
  return time_type_of(types.back().is_integer() ? uint8_t{0} : std::min<uint8_t>(types.back().decimals, 6));
}
void refine_converted(const Expressions& arguments, ValueType& type) {
  type.decimals = second_digits(*arguments[0]);
}
ValueType converted_type(Types types) {
  return ValueType::datetime(types[0].is_string() ? uint8_t{6} : digits_of(types[0]));
}

constexpr FunctionSpec kFunctions[] = {
    {"DATE_ADD", 3, 3, true, date_add, shifted_type, refine_shifted},
    {"DATE_SUB", 3, 3, true, date_sub, shifted_type, refine_shifted},
    {"ADDDATE", 3, 3, true, date_add, shifted_type, refine_shifted},
    {"SUBDATE", 3, 3, true, date_sub, shifted_type, refine_shifted},
    {"TIMESTAMPADD", 3, 3, true, timestamp_add, timestamp_add_type, refine_timestamp_add},
    {"TIMESTAMPDIFF", 3, 3, true, timestamp_diff, integer_type},
    {"TIMESTAMP", 1, 2, true, timestamp, timestamp_type, refine_second_digits},
    {"ADDTIME", 2, 2, true, add_time, added_type, refine_second_digits},
    {"SUBTIME", 2, 2, true, sub_time, added_type, refine_second_digits},
    {"TIMEDIFF", 2, 2, true, time_diff, difference_type, refine_second_digits},
    {"SEC_TO_TIME", 1, 1, true, seconds_to_time, seconds_type},
    {"MAKEDATE", 2, 2, true, make_date, date_type},
    {"MAKETIME", 3, 3, true, make_time, seconds_type},
    {"FROM_DAYS", 1, 1, true, from_days, date_type},
    {"TO_SECONDS", 1, 1, true, to_seconds, integer_type},
    {"PERIOD_ADD", 2, 2, true, period_add, integer_type},
    {"PERIOD_DIFF", 2, 2, true, period_diff, integer_type},
    {"CONVERT_TZ", 3, 3, true, convert_tz, converted_type, refine_converted},
};

}  // namespace

std::span<const FunctionSpec> date_arithmetic_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

#include "sql/expression/store/kinds.h"

#include "base/date_text.h"
#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/beginnings.h"
#include "sql/expression/conversion.h"
#include "sql/expression/store/problems.h"
#include "sql/expression/times_and_dates.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql::store {
namespace {

using Kind = Value::Kind;

bool is_time(const Value& value) {
  return value.kind() == Kind::Temporal && value.as_temporal().kind == Temporal::Kind::Time;
}

bool has_zero_part(const Temporal& t) {
  return t.month == 0 || t.day == 0;
}

// "839:00:00": a time, but more than TIME holds.
bool is_beyond_time(const Value& value) {
  constexpr uint32_t kMostHours = 838;
  if (value.kind() != Kind::String) return false;
  const std::string& text = value.as_string();
  const auto clock = parse_clock(text);
  return clock && clock->kind == Temporal::Kind::Time && clock->hour == kMostHours && !parse_time(text);
}

Temporal longest_time(const ColumnDef& column, const Value& value) {
  Temporal t;
  t.kind = Temporal::Kind::Time;
  t.negative = to_text(value).starts_with('-');
  t.hour = 838;
  t.minute = t.second = 59;
  t.decimals = column.decimals;
  return t;
}

// A text that is more than the date or time that it begins with.
Status cut_behind(const char* name, const ColumnDef& column, const Value& value, StoreContext& context) {
  Error error = context.strict ? incorrect_time(name, column, value, context) : truncated(column, context);
  auto told = adjusted(context, std::move(error), value);
  return told.ok() ? Status() : Status(std::move(told).error());
}

}  // namespace

std::optional<Temporal> with_zero_parts(std::string_view text) {
  const auto date = read_date_text(text);
  return date && date->whole && has_zero_part(date->value) ? std::optional(date->value) : std::nullopt;
}

Result<Value> store_date_and_time(const ColumnDef& column, const Value& value, StoreContext& context) {
  const bool date_only = column.type == FieldType::Date;
  const char* name = date_only ? "date" : "datetime";
  Temporal zero;
  zero.kind = date_only ? Temporal::Kind::Date : Temporal::Kind::DateTime;
  zero.decimals = column.decimals;
  std::optional<Temporal> t = is_time(value) && context.local_seconds != 0
                                  ? time_on_day(value.as_temporal(), context.local_seconds)
                                  : to_datetime(value);
  // STR_TO_DATE gives 2004-09-31.
  if (t && !has_zero_part(*t) && !is_valid_date(t->year, t->month, t->day)) t.reset();
  if (!t && value.kind() == Kind::String) t = with_zero_parts(value.as_string());
  if (!t && value.kind() == Kind::String) {
    t = date_at_beginning(value.as_string());
    if (t) COMMITD_RETURN_IF_ERROR(cut_behind(name, column, value, context));
  }
  const bool is_number_zero =
      value.kind() != Kind::String && value.kind() != Kind::Temporal && to_double(value) == 0;
  if (!t && is_number_zero) t = zero;
  if (!t) return adjusted(context, incorrect_time(name, column, value, context), Value::temporal(zero));
  const bool refused = is_zero_date(*t)
                           ? (context.sql_mode & sql_mode::kNoZeroDate) != 0
                           : has_zero_part(*t) && (context.sql_mode & sql_mode::kNoZeroInDate) != 0;
  if (refused) return adjusted(context, incorrect_time(name, column, value, context), Value::temporal(zero));
  if (date_only) {
    if (t->hour != 0 || t->minute != 0 || t->second != 0 || t->microsecond != 0)
      context.diagnostics.note(truncated(column, context));
    Temporal date = zero;
    date.year = t->year;
    date.month = t->month;
    date.day = t->day;
    return Value::temporal(date);
  }
  Temporal rounded = round_fraction(*t, column.decimals);
  rounded.kind = Temporal::Kind::DateTime;
  if (column.type != FieldType::Timestamp2 || is_zero_date(rounded)) return Value::temporal(rounded);
  const int64_t utc = to_unix_seconds(rounded) - context.time_zone_offset;
  if (utc < 1 || utc > INT32_MAX)
    return adjusted(context, incorrect_time(name, column, value, context), Value::temporal(zero));
  return Value::temporal(datetime_from_unix(utc, rounded.microsecond, column.decimals));
}

Result<Value> store_time(const ColumnDef& column, const Value& value, StoreContext& context) {
  std::optional<Temporal> t = to_time(value);
  if (!t && is_beyond_time(value)) {
    Error error =
        context.strict ? incorrect_time("time", column, value, context) : out_of_range(column, context);
    return adjusted(context, std::move(error), Value::temporal(longest_time(column, value)));
  }
  if (!t && value.kind() == Kind::String) {
    t = time_at_beginning(value.as_string());
    if (t) COMMITD_RETURN_IF_ERROR(cut_behind("time", column, value, context));
  }
  if (!t) {
    Temporal zero;
    zero.kind = Temporal::Kind::Time;
    return adjusted(context, incorrect_time("time", column, value, context), Value::temporal(zero));
  }
  return Value::temporal(round_fraction(*t, column.decimals));
}

Result<Value> store_year(const ColumnDef& column, const Value& value, StoreContext& context) {
  int64_t year = to_int64(value.kind() == Kind::Temporal ? Value::integer(value.as_temporal().year) : value);
  bool complete = true;
  if (value.kind() == Kind::String) leading_double(value.as_string(), &complete);
  // The text '0' is the year 2000, the number 0 and '0000' are none.
  const bool short_text = value.kind() == Kind::String && value.as_string().size() <= 2;
  if (year >= (short_text ? 0 : 1) && year <= 69)
    year += 2000;
  else if (year >= 70 && year <= 99)
    year += 1900;
  if (year != 0 && (year < 1901 || year > 2155))
    return adjusted(context, out_of_range(column, context), Value::unsigned_integer(0));
  const Value stored = Value::unsigned_integer(static_cast<uint64_t>(year));
  if (complete) return stored;
  const bool is_a_number = year != 0;
  return adjusted(context,
                  is_a_number ? truncated(column, context) : incorrect("integer", column, value, context),
                  is_a_number ? stored : Value::unsigned_integer(0));
}

}  // namespace commitd::sql::store

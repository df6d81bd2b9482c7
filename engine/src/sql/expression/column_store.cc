#include "sql/expression/column_store.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/decimal.h"
#include "base/error_codes.h"
#include "base/json/binary.h"
#include "base/json/text.h"
#include "base/temporal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/json_value.h"
#include "sql/variables/system_variables.h"
#include "storage/record/column_format.h"

namespace commitd::sql {
namespace {

using Kind = Value::Kind;

// An error in strict mode; else the adjusted value with a warning.
Result<Value> adjusted(StoreContext& context, Error error, Value value) {
  if (context.strict) return error;
  if (error.code == er::kDataTooLong)
    error.code = er::kDataTruncated;  // MySQL's number where it is a warning
  context.diagnostics.warn(std::move(error));
  return value;
}

Error out_of_range(const ColumnDef& column, const StoreContext& context) {
  return make_error(er::kDataOutOfRange, "Out of range value for column '{}' at row {}", column.name,
                    context.row);
}
Error too_long(const ColumnDef& column, const StoreContext& context) {
  return make_error(er::kDataTooLong, "Data too long for column '{}' at row {}", column.name, context.row);
}
Error truncated(const ColumnDef& column, const StoreContext& context) {
  return make_error(er::kDataTruncated, "Data truncated for column '{}' at row {}", column.name, context.row);
}
Error incorrect(const char* what, const ColumnDef& column, const Value& value, const StoreContext& context) {
  return make_error(er::kTruncatedWrongValueForField, "Incorrect {} value: '{}' for column '{}' at row {}",
                    what, to_text(value), column.name, context.row);
}
Error incorrect_time(const char* what, const ColumnDef& column, const Value& value,
                     const StoreContext& context) {
  return make_error(er::kTruncatedWrongValue, "Incorrect {} value: '{}' for column '{}' at row {}", what,
                    to_text(value), column.name, context.row);
}

struct Limits {
  int64_t least;
  uint64_t most;
};

Limits limits_of(const ColumnDef& column) {
  int bits = 64;
  switch (column.type) {
    case FieldType::Tiny:
      bits = 8;
      break;
    case FieldType::Short:
      bits = 16;
      break;
    case FieldType::Int24:
      bits = 24;
      break;
    case FieldType::Long:
      bits = 32;
      break;
    default:
      break;
  }
  if (column.is_unsigned) return {0, bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1};
  return {bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1)), (uint64_t{1} << (bits - 1)) - 1};
}

bool only_trailing_spaces_cut(std::string_view text, size_t kept) {
  return text.find_first_not_of(' ', kept) == std::string_view::npos;
}

// More than any integer type holds.
bool is_beyond_integers(const Value& value) {
  constexpr double kMost = 18446744073709551616.0, kLeast = -9223372036854775808.0;
  if (value.kind() == Kind::Double) return value.as_double() >= kMost || value.as_double() < kLeast;
  if (value.kind() != Kind::Decimal) return false;
  const auto whole = rescale(value.as_decimal(), 0);
  return !whole || whole->unscaled > UINT64_MAX || whole->unscaled < INT64_MIN;
}

Result<Value> store_integer(const ColumnDef& column, const Value& value, StoreContext& context) {
  Value number;
  bool beyond = false;
  if (value.kind() == Kind::String) {
    bool complete = false;
    const double parsed = leading_double(value.as_string(), &complete);
    number = std::fabs(parsed) < 9e15 ? to_integer(Value::real(parsed)) : to_integer(value);
    if (!complete) {
      const bool some = parsed != 0 || (!value.as_string().empty() && value.as_string()[0] == '0');
      Error error = some ? truncated(column, context) : incorrect("integer", column, value, context);
      auto kept = adjusted(context, std::move(error), number);
      if (!kept.ok()) return kept;
    }
  } else {
    number = to_integer(value);
    beyond = is_beyond_integers(value);
  }
  const Limits limits = limits_of(column);
  const bool negative = number.kind() == Kind::Int && number.as_int() < 0;
  const bool below = negative && (beyond || number.as_int() < limits.least);
  const bool above = !negative && (beyond || to_bits(number) > limits.most);
  if (below || above) {
    const Value nearest = column.is_unsigned
                              ? Value::unsigned_integer(below ? 0 : limits.most)
                              : Value::integer(below ? limits.least : static_cast<int64_t>(limits.most));
    return adjusted(context, out_of_range(column, context), nearest);
  }
  return column.is_unsigned ? Value::unsigned_integer(to_bits(number))
                            : Value::integer(static_cast<int64_t>(to_bits(number)));
}

Result<Value> store_real(const ColumnDef& column, const Value& value, StoreContext& context) {
  double number = to_double(value);
  if (value.kind() == Kind::String) {
    bool complete = false;
    number = leading_double(value.as_string(), &complete);
    if (!complete) {
      Error error = number != 0 ? truncated(column, context)
                                : incorrect(column.type == FieldType::Float ? "float" : "double", column,
                                            value, context);
      auto kept = adjusted(context, std::move(error), Value::real(number));
      if (!kept.ok()) return kept;
    }
  }
  if (column.type == FieldType::Float) {
    const double most = std::numeric_limits<float>::max();
    if (std::fabs(number) > most)
      return adjusted(context, out_of_range(column, context), Value::real(number < 0 ? -most : most));
    number = static_cast<double>(static_cast<float>(number));
  }
  if (column.is_unsigned && number < 0)
    return adjusted(context, out_of_range(column, context), Value::real(0));
  return Value::real(number);
}

Result<Value> store_decimal(const ColumnDef& column, const Value& value, StoreContext& context) {
  const auto precision = static_cast<uint8_t>(column.length);
  bool complete = true;
  Decimal number;
  if (value.kind() == Kind::String) {
    const double approximate = leading_double(value.as_string(), &complete);
    const auto exact = parse_decimal(value.as_string());
    number = exact ? *exact : to_decimal(Value::real(approximate));
    if (!complete) {
      Error error =
          approximate != 0 ? truncated(column, context) : incorrect("decimal", column, value, context);
      auto kept = adjusted(context, std::move(error), Value::null());
      if (!kept.ok()) return kept;
    }
  } else {
    number = to_decimal(value);
  }
  Decimal most{power_of_ten(precision) - 1, column.decimals};
  const bool negative = number.unscaled < 0;
  if (negative) most.unscaled = column.is_unsigned ? 0 : -most.unscaled;
  if (std::fabs(to_double(value)) > 1e38)
    return adjusted(context, out_of_range(column, context), Value::decimal(most));
  const auto scaled = rescale(number, column.decimals);
  if (!scaled || !fits(*scaled, precision, column.decimals) || (negative && column.is_unsigned)) {
    return adjusted(context, out_of_range(column, context), Value::decimal(most));
  }
  if (compare(*scaled, number) != 0) {
    context.diagnostics.note(
        make_error(er::kDataTruncated, "Data truncated for column '{}' at row {}", column.name, context.row));
  }
  return Value::decimal(*scaled);
}

Result<Value> store_binary(const ColumnDef& column, const Value& value, StoreContext& context) {
  std::string bytes = to_text(value);
  const size_t limit = max_column_bytes(column);
  if (bytes.size() > limit) {
    Error error = too_long(column, context);
    bytes.resize(limit);
    return adjusted(context, std::move(error), Value::string(std::move(bytes), true));
  }
  if (column.type == FieldType::String) bytes.resize(limit, '\0');
  return Value::string(std::move(bytes), true);
}

// A number's text in so many characters: 1e10 where 10000000000 is too long, and fewer digits where it must
// be.
std::string real_within(double number, size_t width) {
  std::string text;
  for (int digits = 16; digits >= 0; --digits) {
    text = fmt::format("{:.{}e}", number, digits);
    const size_t exponent = text.find('e');
    const int power = std::atoi(text.c_str() + exponent + 1);
    const bool plain = power >= -4 && power < 15 && digits >= power;
    text = plain ? fmt::format("{:.{}f}", number, digits - power) : text.substr(0, exponent);
    if (text.find('.') != std::string::npos) {
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
    }
    if (!plain) text += fmt::format("e{}", power);
    if (text.size() <= width) break;
  }
  return text;
}

Result<Value> store_text(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (column.collation == kBinaryCollation) return store_binary(column, value, context);
  const bool blob = is_blob(column.type);
  std::string scratch;
  std::string_view text = text_view(value, scratch);
  if (value.kind() == Kind::Double && !blob && text.size() > column.length)
    text = scratch = real_within(value.as_double(), column.length);
  const size_t max_bytes = charset_info(collation_or_binary(column.collation).charset).max_bytes == 3 ? 3 : 4;
  const size_t valid = valid_utf8_prefix(text, max_bytes);
  if (valid < text.size()) {
    std::string shown;
    for (const char c : text.substr(valid, 6))
      fmt::format_to(std::back_inserter(shown), "\\x{:02X}", static_cast<uint8_t>(c));
    Error error =
        make_error(er::kTruncatedWrongValueForField, "Incorrect string value: '{}' for column '{}' at row {}",
                   shown, column.name, context.row);
    return adjusted(context, std::move(error), Value::string(std::string(text.substr(0, valid))));
  }
  size_t kept = text.size();
  if (blob && kept > max_column_bytes(column))
    kept = valid_utf8_prefix(text.substr(0, max_column_bytes(column)));
  else if (!blob && kept > column.length)
    kept = character_prefix(text, column.length).size();
  Value stored = Value::string(std::string(text.substr(0, kept)));
  if (kept < text.size()) {
    if (!blob && only_trailing_spaces_cut(text, kept)) {
      if (column.type == FieldType::VarChar) context.diagnostics.note(truncated(column, context));
    } else {
      return adjusted(context, too_long(column, context), std::move(stored));
    }
  }
  if (column.type == FieldType::String) {  // CHAR keeps no trailing spaces
    std::string trimmed = stored.as_string();
    trimmed.erase(trimmed.find_last_not_of(' ') + 1);
    return Value::string(std::move(trimmed));
  }
  return stored;
}

// A text is parsed; other values would need a CAST.
Result<Value> store_json(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.kind() == Kind::Json) return value;
  const std::string name = fmt::format("{}.{}", context.table, column.name);
  if (value.kind() != Kind::String)
    return json::TextProblem{er::kInvalidJsonText, "not a JSON text, may need CAST", 0}.in_column(name);
  if (value.is_binary())
    return make_error(er::kInvalidJsonCharset,
                      "Cannot create a JSON value from a string with CHARACTER SET 'binary'.");
  json::TextProblem problem;
  const auto document = json::parse(value.as_string(), &problem);
  if (!document) return problem.in_column(name);
  auto binary = json::encode(*document);
  if (!binary.ok()) return std::move(binary).error();
  return Value::json(*std::move(binary));
}

bool has_zero_part(const Temporal& t) {
  return t.month == 0 || t.day == 0;
}

// '2024-00-10', '2024-05-00': dates that are not known in full.
std::optional<Temporal> with_zero_parts(std::string text) {
  constexpr std::string_view kDigits = "0123456789";
  std::array<bool, 2> is_zero{};
  size_t at = text.find_first_not_of(kDigits, text.find_first_of(kDigits));  // behind the year
  for (bool& zero : is_zero) {
    const size_t begin = text.find_first_of(kDigits, at);
    if (begin == std::string::npos) return std::nullopt;
    at = std::min(text.find_first_not_of(kDigits, begin), text.size());
    zero = text.find_first_not_of('0', begin) >= at;
    if (zero) text[at - 1] = '1';
  }
  if (!is_zero[0] && !is_zero[1]) return std::nullopt;
  std::optional<Temporal> t = parse_datetime(text);
  if (t && is_zero[0]) t->month = 0;
  if (t && is_zero[1]) t->day = 0;
  return t;
}

Result<Value> store_date_and_time(const ColumnDef& column, const Value& value, StoreContext& context) {
  const bool date_only = column.type == FieldType::Date;
  const char* name = date_only ? "date" : "datetime";
  Temporal zero;
  zero.kind = date_only ? Temporal::Kind::Date : Temporal::Kind::DateTime;
  zero.decimals = column.decimals;
  std::optional<Temporal> t = to_datetime(value);
  if (!t && value.kind() == Kind::String) t = with_zero_parts(value.as_string());
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

// "839:00:00": a time, but more than TIME holds.
bool is_beyond_time(const Value& value) {
  const std::string text = to_text(value);
  const size_t colon = text.find(':');
  const size_t begin = text.starts_with('-') ? 1 : 0;
  if (colon == std::string::npos || colon <= begin || colon - begin > 6) return false;
  return text.find_first_not_of("0123456789", begin) == colon &&
         parse_time(text.substr(0, begin) + "00" + text.substr(colon));
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

Result<Value> store_time(const ColumnDef& column, const Value& value, StoreContext& context) {
  const std::optional<Temporal> t = to_time(value);
  if (!t && is_beyond_time(value)) {
    Error error =
        context.strict ? incorrect_time("time", column, value, context) : out_of_range(column, context);
    return adjusted(context, std::move(error), Value::temporal(longest_time(column, value)));
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
  // The text '0' is the year 2000, the number 0 and '0000' are none.
  const bool short_text = value.kind() == Kind::String && value.as_string().size() <= 2;
  if (year >= (short_text ? 0 : 1) && year <= 69)
    year += 2000;
  else if (year >= 70 && year <= 99)
    year += 1900;
  if (year != 0 && (year < 1901 || year > 2155))
    return adjusted(context, out_of_range(column, context), Value::unsigned_integer(0));
  return Value::unsigned_integer(static_cast<uint64_t>(year));
}

const std::string* find_label(const ColumnDef& column, std::string_view text) {
  const Collation& collation = collation_or_binary(column.collation);
  for (const std::string& label : column.labels) {
    if (compare(collation, label, text) == 0) return &label;
  }
  return nullptr;
}

Result<Value> store_enum(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.kind() == Kind::Json) return store_enum(column, Value::string(value.to_text()), context);
  if (value.kind() != Kind::String) {
    const int64_t number = to_int64(value);
    if (number >= 1 && number <= static_cast<int64_t>(column.labels.size()))
      return Value::string(column.labels[static_cast<size_t>(number) - 1]);
    return adjusted(context, truncated(column, context), Value::string(""));
  }
  if (const std::string* label = find_label(column, value.as_string())) return Value::string(*label);
  return adjusted(context, truncated(column, context), Value::string(""));
}

Result<Value> store_set(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.kind() == Kind::Json) return store_set(column, Value::string(value.to_text()), context);
  uint64_t bits = 0;
  bool unknown = false;
  if (value.kind() != Kind::String) {
    bits = to_bits(value);
    unknown = column.labels.size() < 64 && bits >> column.labels.size() != 0;
  } else {
    for (std::string_view rest = value.as_string(); !rest.empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string* label = find_label(column, rest.substr(0, comma));
      if (label == nullptr)
        unknown = true;
      else
        bits |= uint64_t{1} << (label - column.labels.data());
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  std::string text;
  for (size_t i = 0; i < column.labels.size(); ++i) {
    if (bits >> i & 1) text += (text.empty() ? "" : ",") + column.labels[i];
  }
  return unknown ? adjusted(context, truncated(column, context), Value::string(text))
                 : Result<Value>(Value::string(text));
}

Result<Value> store_bits(const ColumnDef& column, const Value& value, StoreContext& context) {
  uint64_t bits = 0;
  bool fits_width = true;
  if (value.kind() == Kind::String) {
    for (const char c : value.as_string()) {
      fits_width &= bits >> 56 == 0;
      bits = bits << 8 | static_cast<uint8_t>(c);
    }
  } else {
    bits = to_bits(value);
  }
  const uint32_t width = column.length == 0 ? 1 : column.length;
  if (width < 64 && bits >> width != 0) fits_width = false;
  if (!fits_width) {
    const uint64_t most = width >= 64 ? UINT64_MAX : (uint64_t{1} << width) - 1;
    Error error = context.strict ? too_long(column, context) : out_of_range(column, context);
    return adjusted(context, std::move(error), Value::unsigned_integer(most));
  }
  return Value::unsigned_integer(bits);
}

}  // namespace

Result<Value> convert_for_column(const ColumnDef& column, const Value& value, StoreContext& context) {
  if (value.is_null()) return value;
  // A document in a column of another type: its text in those of characters, else what its scalar is worth.
  if (value.kind() == Kind::Json && column.type != FieldType::Json && !has_characters(column.type))
    return convert_for_column(column, scalar_of_json(value), context);
  switch (column.type) {
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return store_integer(column, value, context);
    case FieldType::Float:
    case FieldType::Double:
      return store_real(column, value, context);
    case FieldType::NewDecimal:
      return store_decimal(column, value, context);
    case FieldType::Date:
    case FieldType::DateTime2:
    case FieldType::Timestamp2:
      return store_date_and_time(column, value, context);
    case FieldType::Time2:
      return store_time(column, value, context);
    case FieldType::Year:
      return store_year(column, value, context);
    case FieldType::Enum:
      return store_enum(column, value, context);
    case FieldType::Set:
      return store_set(column, value, context);
    case FieldType::Bit:
      return store_bits(column, value, context);
    case FieldType::Json:
      return store_json(column, value, context);
    default:
      return store_text(column, value, context);
  }
}

Value implicit_default(const ColumnDef& column) {
  switch (column.type) {
    case FieldType::Float:
    case FieldType::Double:
      return Value::real(0);
    case FieldType::NewDecimal:
      return Value::decimal({0, column.decimals});
    case FieldType::Enum:
      return Value::string(column.labels.empty() ? "" : column.labels[0]);
    case FieldType::Date:
    case FieldType::DateTime2:
    case FieldType::Timestamp2:
    case FieldType::Time2: {
      Temporal zero;
      zero.kind = column.type == FieldType::Date    ? Temporal::Kind::Date
                  : column.type == FieldType::Time2 ? Temporal::Kind::Time
                                                    : Temporal::Kind::DateTime;
      zero.decimals = column.decimals;
      return Value::temporal(zero);
    }
    case FieldType::Year:
    case FieldType::Bit:
      return Value::unsigned_integer(0);
    case FieldType::Json:
      return Value::json(*json::encode(json::Node()));
    case FieldType::Tiny:
    case FieldType::Short:
    case FieldType::Int24:
    case FieldType::Long:
    case FieldType::LongLong:
      return column.is_unsigned ? Value::unsigned_integer(0) : Value::integer(0);
    default: {
      std::string text;
      if (column.collation == kBinaryCollation && column.type == FieldType::String)
        text.resize(column.length, '\0');
      return Value::string(std::move(text), column.collation == kBinaryCollation);
    }
  }
}

}  // namespace commitd::sql

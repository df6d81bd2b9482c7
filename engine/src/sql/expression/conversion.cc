#include "sql/expression/conversion.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/charset/collation.h"
#include "base/decimal.h"
#include "base/json/order.h"
#include "base/temporal.h"
#include "sql/expression/json_value.h"
#include "sql/expression/store/kinds.h"

namespace commitd::sql {
namespace {

std::string_view trim_left(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'))) ++i;
  return text.substr(i);
}

bool only_blanks(std::string_view text) {
  return trim_left(text).empty();
}

__int128 widen(const Value& value) {
  return value.kind() == Value::Kind::UInt ? static_cast<__int128>(value.as_uint())
                                           : static_cast<__int128>(value.as_int());
}

bool is_integer_kind(const Value& value) {
  return value.kind() == Value::Kind::Int || value.kind() == Value::Kind::UInt;
}

Value integer_from_double(double number) {
  const double rounded = std::rint(number);
  if (rounded >= 9223372036854775808.0) {
    const double largest = 18446744073709551616.0;
    return Value::unsigned_integer(rounded >= largest ? UINT64_MAX : static_cast<uint64_t>(rounded));
  }
  return Value::integer(rounded <= -9223372036854775808.0 ? INT64_MIN : static_cast<int64_t>(rounded));
}

Value integer_from_wide(__int128 number) {
  if (number > INT64_MAX)
    return Value::unsigned_integer(number > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(number));
  return Value::integer(number < INT64_MIN ? INT64_MIN : static_cast<int64_t>(number));
}

std::strong_ordering order_doubles(double left, double right) {
  return left < right   ? std::strong_ordering::less
         : left > right ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

// '2001-00-00 10:00:00'
std::optional<Temporal> date_and_clock_with_zero_parts(std::string_view text) {
  const bool has_date = text.find('-', 1) != std::string_view::npos;
  if (!has_date || text.find(':') == std::string_view::npos) return std::nullopt;
  return store::with_zero_parts(text);
}

// A time against something else: as times when the other side can be read as one, else as numbers.
std::strong_ordering compare_temporal(const Temporal& left, const Value& right) {
  if (right.kind() == Value::Kind::Temporal || right.kind() == Value::Kind::String) {
    const bool time = left.kind == Temporal::Kind::Time && (right.kind() == Value::Kind::String ||
                                                            right.as_temporal().kind == Temporal::Kind::Time);
    const std::optional<Temporal> other = time ? to_time(right) : to_datetime(right);
    const std::optional<Temporal> self = time ? left : to_datetime(Value::temporal(left));
    if (other && self) return compare(*self, *other);
  }
  return order_doubles(temporal_number(left), to_double(right));
}

}  // namespace

std::string_view leading_number(std::string_view text) {
  std::string_view number = trim_left(text);
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);
  double ignored = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), ignored);
  return number.substr(0, static_cast<size_t>(parsed.ptr - number.data()));
}

double leading_double(std::string_view text, bool* complete) {
  std::string_view number = trim_left(text);
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);
  double result = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), result);
  bool is_number = parsed.ec == std::errc();
  if (parsed.ec == std::errc::result_out_of_range) {
    result = std::strtod(std::string(number.data(), parsed.ptr).c_str(), nullptr);
    is_number = std::isfinite(result);  // "1e-400" is one, "1e400" is none
    if (!is_number) result = std::copysign(std::numeric_limits<double>::max(), result);
  } else if (!is_number || !std::isfinite(result)) {
    result = 0;
  }
  if (complete != nullptr) {
    *complete = is_number && std::isalpha(static_cast<unsigned char>(parsed.ptr[-1])) == 0 &&
                only_blanks({parsed.ptr, static_cast<size_t>(number.data() + number.size() - parsed.ptr)});
  }
  return result;
}

int64_t leading_integer(std::string_view text, bool* complete) {
  std::string_view number = trim_left(text);
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);
  int64_t result = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), result);
  if (parsed.ec == std::errc::result_out_of_range) result = number.front() == '-' ? INT64_MIN : INT64_MAX;
  if (complete != nullptr) {
    *complete = parsed.ec == std::errc() &&
                only_blanks({parsed.ptr, static_cast<size_t>(number.data() + number.size() - parsed.ptr)});
  }
  return result;
}

std::optional<Value> whole_integer(std::string_view text) {
  std::string_view number = trim_left(text);
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);
  const char* end = number.data() + number.size();
  const auto all_of_it = [&](const std::from_chars_result& parsed) {
    return parsed.ec == std::errc() && only_blanks({parsed.ptr, static_cast<size_t>(end - parsed.ptr)});
  };
  int64_t integer = 0;
  if (all_of_it(std::from_chars(number.data(), end, integer))) return Value::integer(integer);
  uint64_t above = 0;
  if (all_of_it(std::from_chars(number.data(), end, above))) return Value::unsigned_integer(above);
  return std::nullopt;
}

double temporal_number(const Temporal& t) {
  const double time = t.hour * 10000.0 + t.minute * 100.0 + t.second + t.microsecond / 1e6;
  if (t.kind == Temporal::Kind::Time) return t.negative ? -time : time;
  const double date = t.year * 10000.0 + t.month * 100.0 + t.day;
  return t.kind == Temporal::Kind::Date ? date : date * 1e6 + time;
}

Decimal temporal_decimal(const Temporal& t) {
  constexpr uint8_t kMicroseconds = 6;
  const __int128 date = t.kind == Temporal::Kind::Time ? 0 : t.year * 10000 + t.month * 100 + t.day;
  const __int128 time = t.hour * 10000 + t.minute * 100u + t.second;
  const __int128 whole = t.kind == Temporal::Kind::Date ? date : date * 1'000'000 + time;
  Decimal exact{whole * 1'000'000 + t.microsecond, kMicroseconds};
  if (t.kind == Temporal::Kind::Time && t.negative) exact.unscaled = -exact.unscaled;
  return rescale(exact, t.kind == Temporal::Kind::Date ? uint8_t{0} : t.decimals).value_or(exact);
}

double to_double(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Null:
      return 0;
    case Value::Kind::Int:
      return static_cast<double>(value.as_int());
    case Value::Kind::UInt:
      return static_cast<double>(value.as_uint());
    case Value::Kind::Double:
      return value.as_double();
    case Value::Kind::Decimal:
      return commitd::to_double(value.as_decimal());
    case Value::Kind::String:
      return leading_double(value.as_string());
    case Value::Kind::Temporal:
      return temporal_number(value.as_temporal());
    case Value::Kind::Json:
      return to_double(scalar_of_json(value));
  }
  return 0;
}

Value to_integer(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Int:
    case Value::Kind::UInt:
      return value;
    case Value::Kind::Double:
      return integer_from_double(value.as_double());
    case Value::Kind::Decimal: {
      const auto whole = rescale(value.as_decimal(), 0);
      return whole ? integer_from_wide(whole->unscaled)
                   : integer_from_double(commitd::to_double(value.as_decimal()));
    }
    case Value::Kind::String:
      if (auto integer = whole_integer(value.as_string())) return *std::move(integer);
      return integer_from_double(leading_double(value.as_string()));
    case Value::Kind::Temporal:
      return integer_from_double(temporal_number(value.as_temporal()));
    case Value::Kind::Json:
      return to_integer(scalar_of_json(value));
    case Value::Kind::Null:
      break;
  }
  return Value::integer(0);
}

int64_t to_int64(const Value& value) {
  const Value integer = to_integer(value);
  if (integer.kind() == Value::Kind::UInt)
    return integer.as_uint() > INT64_MAX ? INT64_MAX : static_cast<int64_t>(integer.as_uint());
  return integer.as_int();
}

uint64_t to_bits(const Value& value) {
  const Value integer = to_integer(value);
  return integer.kind() == Value::Kind::UInt ? integer.as_uint() : static_cast<uint64_t>(integer.as_int());
}

Decimal to_decimal(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Decimal:
      return value.as_decimal();
    case Value::Kind::Int:
    case Value::Kind::UInt:
      return {widen(value), 0};
    case Value::Kind::String: {
      if (const auto parsed = parse_decimal(value.as_string())) return *parsed;
      break;
    }
    case Value::Kind::Json:
      return to_decimal(scalar_of_json(value));
    case Value::Kind::Temporal:
      return temporal_decimal(value.as_temporal());
    default:
      break;
  }
  const auto parsed = parse_decimal(Value::real(to_double(value)).to_text());
  return parsed.value_or(Decimal{});
}

std::string to_text(const Value& value) {
  return value.kind() == Value::Kind::String ? value.as_string() : value.to_text();
}

std::string to_text(const Value& value, const ValueType& type) {
  constexpr uint8_t kAsManyAsNeeded = 31;
  const bool real = type.type == FieldType::Double || type.type == FieldType::Float;
  if (value.kind() == Value::Kind::Double && real && type.decimals < kAsManyAsNeeded)
    return fmt::format("{:.{}f}", value.as_double(), type.decimals);
  if (type.type == FieldType::Year && to_int64(value) == 0) return "0000";
  Value shown = value;
  conform_digits(shown, type);
  return to_text(shown);
}

std::string_view text_view(const Value& value, std::string& scratch) {
  if (value.kind() == Value::Kind::String) return value.as_string();
  scratch = value.to_text();
  return scratch;
}

std::optional<Temporal> to_datetime(const Value& value) {
  if (value.kind() == Value::Kind::Temporal) {
    Temporal t = value.as_temporal();
    if (t.kind == Temporal::Kind::Time) return std::nullopt;
    t.kind = Temporal::Kind::DateTime;
    return t;
  }
  if (value.is_null()) return std::nullopt;
  if (value.kind() == Value::Kind::Json) return to_datetime(scalar_of_json(value));
  if (value.kind() == Value::Kind::String) return parse_datetime(value.as_string());
  if (value.kind() != Value::Kind::Decimal) return date_of_number(value);
  const std::string text = value.to_text();
  const size_t point = std::min(text.find('.'), text.size());
  const auto whole = whole_integer(text.substr(0, point));
  auto date = whole ? date_of_number(*whole) : std::nullopt;
  constexpr size_t kTimeOfTwoDigits = 9;  // digits, with leading zeros left out
  if (date && point >= kTimeOfTwoDigits && point < text.size()) {
    const auto fraction = parse_datetime(fmt::format("{}{}", format_temporal(*date), text.substr(point)));
    if (fraction) date = fraction;
  }
  return date;
}

namespace {

// 20101211030405: too much for a time, but a date with one.
bool is_number_of_datetime(const Value& value) {
  constexpr double kLeast = 1e10;
  const bool is_number = value.kind() == Value::Kind::Int || value.kind() == Value::Kind::UInt ||
                         value.kind() == Value::Kind::Double || value.kind() == Value::Kind::Decimal;
  return is_number && to_double(value) >= kLeast;
}

}  // namespace

std::optional<Temporal> to_time(const Value& value) {
  if (value.kind() == Value::Kind::Temporal) {
    Temporal t = value.as_temporal();
    t.kind = Temporal::Kind::Time;
    t.year = 0;
    t.month = t.day = 0;
    return t;
  }
  if (value.is_null()) return std::nullopt;
  if (value.kind() == Value::Kind::Json) return to_time(scalar_of_json(value));
  if (is_number_of_datetime(value)) {
    const auto date = to_datetime(value);
    return date ? to_time(Value::temporal(*date)) : std::nullopt;
  }
  std::string scratch;
  return parse_time(text_view(value, scratch));
}

std::optional<Temporal> to_clock(const Value& value) {
  if (value.kind() == Value::Kind::Temporal) return value.as_temporal();
  if (value.is_null()) return std::nullopt;
  if (value.kind() == Value::Kind::Json) return to_clock(scalar_of_json(value));
  if (is_number_of_datetime(value)) return to_datetime(value);
  std::string scratch;
  const std::string_view text = text_view(value, scratch);
  if (const auto date = date_and_clock_with_zero_parts(text)) return date;
  const auto clock = parse_clock(text);
  const bool is_time = clock && clock->kind == Temporal::Kind::Time;
  // A number that is more than a TIME holds is none, a text the longest one.
  return is_time && value.kind() != Value::Kind::String ? parse_time(text) : clock;
}

namespace {

std::optional<Temporal> date_of_whole_number(const Value& integer) {
  constexpr uint64_t kLeast = 101, kDateOfTwoDigits = 1'000'000, kGreatestDate = 99'991'231,
                     kTimeOfTwoDigits = 1'000'000'000'000;
  if (integer.kind() == Value::Kind::Int && integer.as_int() < 0) return std::nullopt;
  const uint64_t number = to_bits(integer);
  if (number < kLeast) return std::nullopt;
  const bool two_digits = number < kDateOfTwoDigits || (number > kGreatestDate && number < kTimeOfTwoDigits);
  return parse_datetime(fmt::format("{:0{}}", number, !two_digits ? 1 : number < kDateOfTwoDigits ? 6 : 12));
}

// Its fraction is what the double is, not what is printed of it.
std::optional<Temporal> date_of_double(double number) {
  constexpr double kBeyond = 1e18, kMicrosecond = 1e6;
  constexpr uint8_t kDigits = 6;
  if (!(std::fabs(number) < kBeyond)) return std::nullopt;
  const double whole = std::floor(number);
  auto date = date_of_whole_number(Value::integer(static_cast<int64_t>(whole)));
  if (!date || whole == number) return date;
  date->microsecond = static_cast<uint32_t>((number - whole) * kMicrosecond);
  date->decimals = kDigits;
  return date;
}

}  // namespace

std::optional<Temporal> date_of_number(const Value& value) {
  if (value.kind() == Value::Kind::Double) return date_of_double(value.as_double());
  const std::string digits = to_text(value);
  const size_t point = digits.find('.');
  if (point == std::string::npos || digits.find('e') != std::string::npos)
    return date_of_whole_number(to_integer(value));
  auto date = date_of_whole_number(to_integer(Value::string(digits.substr(0, point))));
  const auto fraction = date ? parse_datetime("2000-01-01 00:00:00" + digits.substr(point)) : date;
  if (!fraction) return std::nullopt;
  if (fraction->second != 0)
    date = datetime_from_unix(to_unix_seconds(*date) + 1, 0, 0);  // it was rounded up
  date->microsecond = fraction->microsecond;
  date->decimals = fraction->decimals;
  return date;
}

Truth truth(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Null:
      return Truth::Unknown;
    case Value::Kind::Int:
      return value.as_int() != 0 ? Truth::True : Truth::False;
    case Value::Kind::UInt:
      return value.as_uint() != 0 ? Truth::True : Truth::False;
    case Value::Kind::Decimal:
      return value.as_decimal().unscaled != 0 ? Truth::True : Truth::False;
    case Value::Kind::Json:  // whatever is not the number 0
      return compare_values(value, Value::integer(0), kBinaryCollation) != 0 ? Truth::True : Truth::False;
    default:
      return to_double(value) != 0 ? Truth::True : Truth::False;
  }
}

std::strong_ordering compare_values(const Value& left, const Value& right, uint16_t collation) {
  using Kind = Value::Kind;
  if (is_integer_kind(left) && is_integer_kind(right)) return widen(left) <=> widen(right);
  if (left.kind() == Kind::String && right.kind() == Kind::String) {
    const uint16_t used = left.is_binary() || right.is_binary() ? kBinaryCollation : collation;
    return compare(collation_or_binary(used), left.as_string(), right.as_string()) <=> 0;
  }
  if (left.kind() == Kind::Json || right.kind() == Kind::Json)
    return json::compare(json_of(left), json_of(right));
  if (left.kind() == Kind::Temporal) return compare_temporal(left.as_temporal(), right);
  if (right.kind() == Kind::Temporal) return 0 <=> compare_temporal(right.as_temporal(), left);
  const bool exact = (is_integer_kind(left) || left.kind() == Kind::Decimal) &&
                     (is_integer_kind(right) || right.kind() == Kind::Decimal);
  if (exact) return compare(to_decimal(left), to_decimal(right));
  return order_doubles(to_double(left), to_double(right));
}

std::strong_ordering order_values(const Value& left, const Value& right, uint16_t collation) {
  if (left.is_null() || right.is_null()) return !left.is_null() <=> !right.is_null();
  return compare_values(left, right, collation);
}

namespace {

void append_group_text(std::string& key, const Value& value, uint16_t collation) {
  if (value.kind() == Value::Kind::String) {
    return append_equality_key(collation_or_binary(value.is_binary() ? kBinaryCollation : collation),
                               value.as_string(), key);
  }
  if (value.kind() == Value::Kind::Json) return json::append_key(key, json_of(value));
  const bool zero = value.kind() == Value::Kind::Double && value.as_double() == 0;  // -0 and 0 are equal
  std::string text = zero ? "0" : value.to_text();
  if (value.kind() == Value::Kind::Decimal && value.as_decimal().scale > 0) {  // 1.50 and 1.5 are equal
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  key += text;
}

}  // namespace

void append_group_key(std::string& key, const Value& value, uint16_t collation) {
  if (value.is_null()) {
    key.push_back('\0');
    return;
  }
  key.push_back('\1');
  const size_t length_at = key.size();
  key.append(sizeof(uint32_t), '\0');
  append_group_text(key, value, collation);
  const auto length = static_cast<uint32_t>(key.size() - length_at - sizeof(uint32_t));
  key.replace(length_at, sizeof length, reinterpret_cast<const char*>(&length), sizeof length);
}

void conform_digits(Value& value, const ValueType& type) {
  if (value.kind() == Value::Kind::Decimal) {
    if (type.type != FieldType::NewDecimal || value.as_decimal().scale == type.decimals) return;
    if (const auto scaled = rescale(value.as_decimal(), type.decimals)) value = Value::decimal(*scaled);
  } else if (value.kind() == Value::Kind::Temporal) {
    const Temporal& t = value.as_temporal();
    if (t.kind != Temporal::Kind::Date && type.is_temporal() && type.decimals <= 6 &&
        t.decimals != type.decimals)
      value = Value::temporal(round_fraction(t, type.decimals));
  }
}

void conform(Value& value, const ValueType& type) {
  using Kind = Value::Kind;
  if (value.is_null()) return;
  if (type.type == FieldType::Json && value.kind() == Kind::Json) return;
  if (type.is_string() && value.kind() != Kind::String) {
    value = Value::string(value.to_text());
  } else if (type.type == FieldType::NewDecimal && is_integer_kind(value)) {
    value = Value::decimal({widen(value), 0});
  } else if ((type.type == FieldType::Double || type.type == FieldType::Float) &&
             value.kind() != Kind::Double) {
    value = Value::real(to_double(value));
  } else if (value.kind() == Kind::Temporal && value.as_temporal().kind == Temporal::Kind::Date &&
             (type.type == FieldType::DateTime || type.type == FieldType::Timestamp)) {
    Temporal t = value.as_temporal();
    t.kind = Temporal::Kind::DateTime;
    t.decimals = type.decimals;
    value = Value::temporal(t);
  }
  conform_digits(value, type);
}

}  // namespace commitd::sql

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/date_text.h"
#include "base/temporal.h"

namespace commitd {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads up to `max` digits; nullopt when there is none.
std::optional<uint32_t> take_number(std::string_view& text, size_t max) {
  size_t count = 0;
  uint32_t number = 0;
  while (count < max && count < text.size() && is_digit(text[count]))
    number = number * 10 + static_cast<uint32_t>(text[count++] - '0');
  if (count == 0) return std::nullopt;
  text.remove_prefix(count);
  return number;
}

// ".123": at most six digits count, the seventh rounds. False when something else follows the number.
bool take_fraction(std::string_view& text, Temporal& value, bool& carry) {
  carry = false;
  if (text.empty()) return true;
  if (text.front() != '.') return false;
  text.remove_prefix(1);
  uint32_t micros = 0;
  uint8_t digits = 0;
  while (!text.empty() && is_digit(text.front())) {
    if (digits < 6) {
      micros = micros * 10 + static_cast<uint32_t>(text.front() - '0');
      ++digits;
    } else if (digits == 6) {
      if (text.front() >= '5') ++micros;
      digits = 7;
    }
    text.remove_prefix(1);
  }
  value.decimals = digits > 6 ? 6 : digits;
  for (uint8_t i = digits; i < 6; ++i) micros *= 10;
  carry = micros == 1'000'000;
  value.microsecond = carry ? 0 : micros;
  return text.empty();
}

void add_second(Temporal& value) {
  const uint32_t seconds = value.hour * 3600 + value.minute * 60u + value.second + 1;
  value.hour = seconds / 3600;
  value.minute = static_cast<uint8_t>(seconds / 60 % 60);
  value.second = static_cast<uint8_t>(seconds % 60);
}

bool set_clock(Temporal& value, uint32_t hour, uint32_t minute, uint32_t second) {
  if (minute > 59 || second > 59) return false;
  value.hour = hour;
  value.minute = static_cast<uint8_t>(minute);
  value.second = static_cast<uint8_t>(second);
  return true;
}

// "hh[:mm[:ss]]"; false when malformed.
bool take_clock(std::string_view& text, Temporal& value, size_t hour_digits) {
  std::array<uint32_t, 3> parts{};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      if (text.empty() || text.front() != ':') break;
      text.remove_prefix(1);
    }
    const auto number = take_number(text, i == 0 ? hour_digits : 2);
    if (!number) return false;
    parts[i] = *number;
  }
  return set_clock(value, parts[0], parts[1], parts[2]);
}

bool all_leading_digits(std::string_view text, size_t at_least) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  return digits >= at_least && (digits == text.size() || text[digits] == '.');
}

// Of hours, of days or of a time without separators: more than a TIME holds, so that it can be told to be too
// long.
constexpr size_t kTimeDigits = 9;
constexpr uint32_t kMostHours = 838;

bool is_too_long(const Temporal& time) {
  const bool last_second = time.hour == kMostHours && time.minute == 59 && time.second == 59;
  return time.hour > kMostHours || (last_second && time.microsecond != 0);
}

// "hhmmss", "mmss", "ss" without separators.
bool take_compact_time(std::string_view& text, Temporal& value) {
  const auto number = take_number(text, kTimeDigits);
  return number && set_clock(value, *number / 10000, *number / 100 % 100, *number % 100);
}

std::string fraction_text(const Temporal& value) {
  if (value.decimals == 0) return {};
  uint32_t digits = value.microsecond;
  for (int i = value.decimals; i < 6; ++i) digits /= 10;
  return fmt::format(".{:0{}}", digits, static_cast<int>(value.decimals));
}

}  // namespace

std::string format_temporal(const Temporal& value) {
  switch (value.kind) {
    case Temporal::Kind::Date:
      return fmt::format("{:04}-{:02}-{:02}", value.year, value.month, value.day);
    case Temporal::Kind::DateTime:
      return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}{}", value.year, value.month, value.day,
                         value.hour, value.minute, value.second, fraction_text(value));
    case Temporal::Kind::Time:
      return fmt::format("{}{:02}:{:02}:{:02}{}", value.negative ? "-" : "", value.hour, value.minute,
                         value.second, fraction_text(value));
  }
  return {};
}

std::optional<Temporal> parse_datetime(std::string_view text) {
  const auto date = read_date_text(text);
  const bool known_in_full = date && is_valid_date(date->value.year, date->value.month, date->value.day);
  return known_in_full && date->whole ? std::optional(date->value) : std::nullopt;
}

std::optional<Temporal> parse_date(std::string_view text) {
  auto value = parse_datetime(text);
  if (!value) return std::nullopt;
  Temporal date;
  date.kind = Temporal::Kind::Date;
  date.year = value->year;
  date.month = value->month;
  date.day = value->day;
  return date;
}

namespace {

// What of a text may be a time: digits, and what stands between them.
std::string_view time_prefix(std::string_view text) {
  size_t end =
      text.find_first_not_of("0123456789:. ", !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0);
  end = std::min(end, text.size());
  while (end > 0 && !is_digit(text[end - 1])) --end;
  return text.substr(0, end);
}

// A TIME, or one that is longer than a TIME may be.
std::optional<Temporal> read_time(std::string_view text) {
  text = trimmed(text);
  Temporal value;
  value.kind = Temporal::Kind::Time;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    value.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const size_t space = text.find(' ');
  uint32_t days = 0;
  if (space != std::string_view::npos && text.find('-') == std::string_view::npos) {
    constexpr size_t kDayDigits = 6;
    const auto number = take_number(text, kDayDigits);
    if (!number || text.empty() || text.front() != ' ') return std::nullopt;
    days = *number;
    text = trimmed(text);
    if (!take_clock(text, value, kDayDigits)) return std::nullopt;
  } else if (text.find(':') == std::string_view::npos) {
    if (!take_compact_time(text, value)) return std::nullopt;
  } else if (text.find('-') != std::string_view::npos) {
    const auto datetime = parse_datetime(text);
    if (!datetime) return std::nullopt;
    value = *datetime;
    value.kind = Temporal::Kind::Time;
    value.year = value.month = value.day = 0;
    return value;
  } else if (!take_clock(text, value, kTimeDigits)) {
    return std::nullopt;
  }
  bool carry = false;
  if (!take_fraction(text, value, carry)) return std::nullopt;
  value.hour += days * 24;
  if (carry) add_second(value);
  return value;
}

}  // namespace

std::optional<Temporal> parse_time(std::string_view text) {
  const auto value = read_time(text);
  return value && is_too_long(*value) ? std::nullopt : value;
}

namespace {

// Three numbers, and a time behind them.
bool begins_with_date(std::string_view text) {
  const std::string_view front = text.substr(0, text.find_first_of(" T"));
  const auto separates = [](char c) { return c == '-' || c == '/'; };
  return front.size() < text.size() && is_digit(front.empty() ? ' ' : front.front()) &&
         std::count_if(front.begin(), front.end(), separates) == 2;
}

}  // namespace

std::optional<Temporal> parse_clock(std::string_view text) {
  constexpr size_t kShortestDateAndTime = 12;
  text = trimmed(text);
  // "10:11:12.123456" is a time.
  const bool both =
      all_leading_digits(text, kShortestDateAndTime) || text.find_first_of(" T") != std::string_view::npos;
  if (both && text.size() >= kShortestDateAndTime) {
    if (auto datetime = parse_datetime(text)) return datetime;
    if (begins_with_date(text)) return std::nullopt;  // one that does not exist
  }
  auto value = read_time(time_prefix(text));
  if (value && is_too_long(*value)) {
    value->hour = kMostHours;
    value->minute = value->second = 59;
    value->microsecond = 0;
  }
  return value;
}

}  // namespace commitd

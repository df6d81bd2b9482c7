#include "sql/functions/date_text.h"

#include <algorithm>
#include <cctype>
#include <span>

#include <fmt/format.h>

#include "base/temporal.h"
#include "base/text_case.h"

namespace commitd::sql {
namespace {

std::string ordinal(unsigned n) {
  const char* suffix = n / 10 == 1   ? "th"
                       : n % 10 == 1 ? "st"
                       : n % 10 == 2 ? "nd"
                       : n % 10 == 3 ? "rd"
                                     : "th";
  return fmt::format("{}{}", n, suffix);
}

bool needs_day(char c) {
  return std::string_view("WawjUuVvXx").find(c) != std::string_view::npos;
}

std::string week_text(const Temporal& t, char c) {
  switch (c) {
    case 'U':
      return fmt::format("{:02}", week_of(t, 0).week);
    case 'u':
      return fmt::format("{:02}", week_of(t, 1).week);
    case 'V':
      return fmt::format("{:02}", week_of(t, 2).week);
    case 'v':
      return fmt::format("{:02}", week_of(t, 3).week);
    case 'X':
      return fmt::format("{:04}", week_of(t, 2).year);
    default:
      return fmt::format("{:04}", week_of(t, 3).year);
  }
}

std::string date_letter(const Temporal& t, char c) {
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
    case 'M':
      return kMonthNames[t.month - 1];
    case 'b':
      return std::string(kMonthNames[t.month - 1]).substr(0, 3);
    case 'W':
      return kDayNames[monday_based(t)];
    case 'a':
      return std::string(kDayNames[monday_based(t)]).substr(0, 3);
    case 'w':
      return fmt::format("{}", (monday_based(t) + 1) % 7);
    case 'j':
      return fmt::format("{:03}", day_in_year(t));
    case 'U':
    case 'u':
    case 'V':
    case 'v':
    case 'X':
    case 'x':
      return week_text(t, c);
    default:
      return std::string(1, c);
  }
}

std::string letter(const Temporal& t, char c) {
  const unsigned hour12 = t.hour % 12 == 0 ? 12 : t.hour % 12;
  const char* half = t.hour % 24 < 12 ? "AM" : "PM";
  switch (c) {
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
    default:
      return date_letter(t, c);
  }
}

class FormatParser {
 public:
  FormatParser(std::string_view text, std::string_view format) : text_(text), format_(format) {}

  std::optional<Temporal> parse() {
    // What the text has no part for stays 0.
    for (size_t i = 0; i < format_.size() && !text_.empty(); ++i) {
      if (format_[i] == '%' && i + 1 < format_.size()) {
        if (!take(format_[++i])) return std::nullopt;
      } else if (std::isspace(static_cast<unsigned char>(format_[i]))) {
        skip_blanks();
      } else {
        skip_blanks();
        if (text_.empty() || text_.front() != format_[i]) return std::nullopt;
        text_.remove_prefix(1);
      }
    }
    return finish();
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front()))) text_.remove_prefix(1);
  }
  bool number(size_t most, uint32_t& into) {
    size_t digits = 0;
    into = 0;
    while (digits < most && digits < text_.size() && std::isdigit(static_cast<unsigned char>(text_[digits])))
      into = into * 10 + static_cast<uint32_t>(text_[digits++] - '0');
    text_.remove_prefix(digits);
    return digits > 0;
  }
  // One or two digits lack their century.
  bool year(size_t most) {
    const size_t before = text_.size();
    if (!number(most, year_)) return false;
    if (before - text_.size() <= 2) year_ += year_ < 70 ? 2000 : 1900;
    return true;
  }
  bool name(std::span<const char* const> names, size_t letters, uint32_t& index) {
    for (size_t i = 0; i < names.size(); ++i) {
      std::string_view wanted = names[i];
      if (letters != 0) wanted = wanted.substr(0, letters);
      const bool same = text_.size() >= wanted.size() && equal_words(text_.substr(0, wanted.size()), wanted);
      if (!same) continue;
      index = static_cast<uint32_t>(i);
      text_.remove_prefix(wanted.size());
      return true;
    }
    return false;
  }
  bool take(char c) {
    skip_blanks();
    uint32_t ignored = 0;
    switch (c) {
      case 'Y':
        return year(4);
      case 'y':
        return year(2);
      case 'm':
      case 'c':
        return number(2, month_);
      case 'd':
      case 'e':
        return number(2, day_);
      case 'D':
        if (!number(2, day_) || text_.size() < 2) return false;
        text_.remove_prefix(2);
        return true;
      case 'j':
        return number(3, day_in_year_);
      case 'M':
      case 'b':
        if (!name(kMonthNames, c == 'b' ? 3 : 0, month_)) return false;
        ++month_;
        return true;
      case 'W':
      case 'a':
        return name(kDayNames, c == 'a' ? 3 : 0, ignored);
      case 'w':
        return number(1, ignored);
      default:
        return take_clock(c);
    }
  }
  bool take_clock(char c) {
    switch (c) {
      case 'H':
      case 'k':
        return number(2, hour_);
      case 'h':
      case 'I':
      case 'l':
        half_day_ = true;
        return number(2, hour_) && hour_ >= 1 && hour_ <= 12;
      case 'i':
        return number(2, minute_);
      case 's':
      case 'S':
        return number(2, second_);
      case 'f': {
        const size_t before = text_.size();
        if (!number(6, microsecond_)) return false;
        for (size_t digits = before - text_.size(); digits < 6; ++digits) microsecond_ *= 10;
        return true;
      }
      case 'p': {
        if (!half_day_) return false;  // %H is an hour of 24
        const std::string_view half = text_.substr(0, 2);
        if (half.size() < 2 || std::toupper(static_cast<unsigned char>(half[1])) != 'M') return false;
        const int first = std::toupper(static_cast<unsigned char>(half[0]));
        afternoon_ = first == 'P';
        text_.remove_prefix(2);
        return first == 'A' || first == 'P';
      }
      case 'T':
        return number(2, hour_) && colon() && number(2, minute_) && colon() && number(2, second_);
      case 'r':
        return take('h') && colon() && number(2, minute_) && colon() && number(2, second_) && take('p');
      case '.':
        return skip([](unsigned char one) { return std::ispunct(one) != 0; });
      case '@':
        return skip([](unsigned char one) { return std::isalpha(one) != 0; });
      case '#':
        return skip([](unsigned char one) { return std::isdigit(one) != 0; });
      case '%':
        if (text_.empty() || text_.front() != '%') return false;
        text_.remove_prefix(1);
        return true;
      default:
        return false;
    }
  }
  bool skip(bool (*is_one)(unsigned char)) {
    while (!text_.empty() && is_one(static_cast<unsigned char>(text_.front()))) text_.remove_prefix(1);
    return true;
  }
  bool colon() {
    if (text_.empty() || text_.front() != ':') return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<Temporal> finish() {
    Temporal t;
    t.kind = kind_of_format(format_);
    if (half_day_) hour_ = hour_ % 12 + (afternoon_ ? 12 : 0);
    if (minute_ > 59 || second_ > 59 || (t.kind != Temporal::Kind::Time && hour_ > 23)) return std::nullopt;
    if (day_in_year_ > 0) {
      const Temporal date = date_from_day_number(day_number(year_, 1, 1) + day_in_year_ - 1);
      month_ = date.month;
      day_ = date.day;
    }
    if (month_ > 12 || day_ > 31) return std::nullopt;
    t.year = static_cast<uint16_t>(year_);
    t.month = static_cast<uint8_t>(month_);
    t.day = static_cast<uint8_t>(day_);
    t.hour = hour_;
    t.minute = static_cast<uint8_t>(minute_);
    t.second = static_cast<uint8_t>(second_);
    t.microsecond = microsecond_;
    if (t.kind == Temporal::Kind::Time) {
      t.hour += t.day * 24u;
      t.day = 0;
    }
    t.decimals = format_has_fraction(format_) ? 6 : 0;
    return t;
  }

  std::string_view text_, format_;
  uint32_t year_ = 0, month_ = 0, day_ = 0, day_in_year_ = 0;
  uint32_t hour_ = 0, minute_ = 0, second_ = 0, microsecond_ = 0;
  bool half_day_ = false, afternoon_ = false;
};

bool has_letter_of(std::string_view format, std::string_view letters) {
  for (size_t i = 0; i + 1 < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (letters.find(format[++i]) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

int64_t days_of(const Temporal& t) {
  return day_number(t.year, t.month, t.day);
}
int64_t monday_based(const Temporal& t) {
  return ((days_of(t) + 3) % 7 + 7) % 7;  // 1970-01-01 was a Thursday
}
int64_t day_in_year(const Temporal& t) {
  return days_of(t) - day_number(t.year, 1, 1) + 1;
}

// calc_week of MySQL: bit 0 weeks start on Monday, bit 1 weeks count from 1 (else from 0), bit 2 the first
// week is the first that starts in the year (else the first with four days in it; reversed for Sunday weeks).
YearWeek week_of(const Temporal& t, unsigned mode) {
  const bool monday_first = (mode & 1) != 0;
  bool week_year = (mode & 2) != 0;
  const bool first_weekday = ((mode & 4) != 0) != !monday_first;
  auto weekday = [&](int64_t day) {
    const int64_t from_monday = ((day + 3) % 7 + 7) % 7;
    return monday_first ? from_monday : (from_monday + 1) % 7;
  };
  auto year_days = [](int64_t year) -> int64_t {
    if (year < 0) return 365;
    return day_number(static_cast<uint32_t>(year + 1), 1, 1) - day_number(static_cast<uint32_t>(year), 1, 1);
  };
  YearWeek result{t.year, 0};
  const int64_t day = days_of(t);
  int64_t first_day = day_number(t.year, 1, 1);
  int64_t first = weekday(first_day);
  int64_t days = 0;
  if (t.month == 1 && t.day <= 7 - first) {
    if (!week_year && ((first_weekday && first != 0) || (!first_weekday && first >= 4))) return result;
    week_year = true;
    --result.year;
    const int64_t length = year_days(result.year);
    first_day -= length;
    first = (first + 53 * 7 - length) % 7;
  }
  const bool starts_late = (first_weekday && first != 0) || (!first_weekday && first >= 4);
  days = starts_late ? day - (first_day + (7 - first)) : day - (first_day - first);
  if (week_year && days >= 52 * 7) {
    first = (first + year_days(result.year)) % 7;
    if ((!first_weekday && first < 4) || (first_weekday && first == 0)) return {result.year + 1, 1};
  }
  result.week = days / 7 + 1;
  return result;
}

std::optional<std::string> format_by(const Temporal& t, std::string_view format) {
  std::string result(t.negative ? "-" : "");
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      result.push_back(format[i]);
      continue;
    }
    const char c = format[++i];
    if ((c == 'M' || c == 'b') && t.month == 0) return std::nullopt;
    if (needs_day(c) && (t.month == 0 || t.day == 0)) return std::nullopt;
    result += letter(t, c);
  }
  return result;
}

std::optional<Temporal> parse_by(std::string_view text, std::string_view format) {
  return FormatParser(text, format).parse();
}

Temporal::Kind kind_of_format(std::string_view format) {
  const bool date = has_letter_of(format, "YyMmbcjWawUuVvXx");  // the days alone may be those of a TIME
  const bool clock = has_letter_of(format, "HkhIlisSfprT");
  return date && clock ? Temporal::Kind::DateTime : clock ? Temporal::Kind::Time : Temporal::Kind::Date;
}

bool format_has_fraction(std::string_view format) {
  return has_letter_of(format, "f");
}

std::optional<std::string> standard_format(std::string_view type, std::string_view standard) {
  struct Formats {
    std::string_view standard, date, time, datetime;
  };
  static constexpr Formats kFormats[] = {
      {"USA", "%m.%d.%Y", "%h:%i:%s %p", "%Y-%m-%d %H.%i.%s"},
      {"JIS", "%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"},
      {"ISO", "%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"},
      {"EUR", "%d.%m.%Y", "%H.%i.%s", "%Y-%m-%d %H.%i.%s"},
      {"INTERNAL", "%Y%m%d", "%H%i%s", "%Y%m%d%H%i%s"},
  };
  for (const Formats& formats : kFormats) {
    if (!equal_words(formats.standard, standard)) continue;
    return std::string(type == "DATE" ? formats.date : type == "TIME" ? formats.time : formats.datetime);
  }
  return std::nullopt;
}

}  // namespace commitd::sql

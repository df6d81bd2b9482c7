#include "base/date_text.h"

#include <array>
#include <cctype>

#include "base/temporal.h"

namespace commitd {
namespace {

enum Part : size_t { kYear, kMonth, kDay, kHour, kMinute, kSecond, kFraction, kParts };

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_punctuation(char c) {
  return std::ispunct(static_cast<unsigned char>(c)) != 0;
}

// The numbers of a text, as far as they are those of a date and time.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<DateText> read() {
    skip_spaces();
    if (rest_.empty() || !is_digit(rest_[0])) return std::nullopt;
    measure();
    size_t count = 0;
    if (!take_numbers(count) || count <= kDay) return std::nullopt;
    std::optional<DateText> date = result();
    if (!date) return date;
    const bool round_up = skip_digits_behind_fraction();
    skip_spaces();
    date->whole = rest_.empty();
    if (round_up) add_microsecond(date->value);
    return date;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
  }

  // Without punctuation every number has two digits, but for the year of 8, or of 14 and more.
  void measure() {
    size_t digits = 0;
    while (digits < rest_.size() && (is_digit(rest_[digits]) || rest_[digits] == 'T')) ++digits;
    digits_alone_ = digits == rest_.size() || rest_[digits] == '.';
    if (digits_alone_) year_digits_ = digits == 4 || digits == 8 || digits >= 14 ? 4 : 2;
  }

  bool take_number(size_t part) {
    constexpr uint32_t kMost = 999999, kFractionDigits = 6;
    const size_t most = part == kFraction ? kFractionDigits
                        : !digits_alone_  ? rest_.size()
                        : part == kYear   ? year_digits_
                                          : 2;
    size_t digits = 0;
    while (digits < most && digits < rest_.size() && is_digit(rest_[digits])) {
      numbers_[part] = numbers_[part] * 10 + static_cast<uint32_t>(rest_[digits++] - '0');
      if (numbers_[part] > kMost) return false;
    }
    rest_.remove_prefix(digits);
    if (part == kYear && !digits_alone_) year_digits_ = digits;
    if (part == kFraction) fraction_digits_ = digits;
    return true;
  }

  // A space may stand behind the day alone.
  bool skip_punctuation(size_t part) {
    while (!rest_.empty() && (is_punctuation(rest_[0]) || is_space(rest_[0]))) {
      if (is_space(rest_[0]) && part != kDay) return false;
      rest_.remove_prefix(1);
    }
    return true;
  }

  bool take_numbers(size_t& count) {
    while (count < kParts && !rest_.empty() && is_digit(rest_[0])) {
      const size_t part = count++;
      if (!take_number(part)) return false;
      if (rest_.empty() || part == kFraction) break;
      if (part == kDay && rest_[0] == 'T') {
        rest_.remove_prefix(1);
      } else if (part == kSecond) {
        const bool has_fraction = rest_.size() > 1 && rest_[0] == '.' && is_digit(rest_[1]);
        if (!has_fraction) break;
        rest_.remove_prefix(1);
      } else if (!skip_punctuation(part)) {
        return false;
      }
    }
    return true;
  }

  bool is_in_range() const {
    return numbers_[kYear] <= 9999 && numbers_[kMonth] <= 12 && numbers_[kDay] <= 31 &&
           numbers_[kHour] <= 23 && numbers_[kMinute] <= 59 && numbers_[kSecond] <= 59;
  }

  std::optional<DateText> result() const {
    if (!is_in_range()) return std::nullopt;
    bool is_zero = true;
    for (const uint32_t number : numbers_) is_zero &= number == 0;
    uint32_t year = numbers_[kYear];
    if (year_digits_ == 2 && !is_zero) year += year < 70 ? 2000 : 1900;
    const uint32_t month = numbers_[kMonth], day = numbers_[kDay];
    if (month != 0 && day != 0 && !is_valid_date(year, month, day)) return std::nullopt;
    DateText date;
    date.value.year = static_cast<uint16_t>(year);
    date.value.month = static_cast<uint8_t>(month);
    date.value.day = static_cast<uint8_t>(day);
    date.value.hour = numbers_[kHour];
    date.value.minute = static_cast<uint8_t>(numbers_[kMinute]);
    date.value.second = static_cast<uint8_t>(numbers_[kSecond]);
    date.value.microsecond = numbers_[kFraction];
    for (size_t i = fraction_digits_; i < 6; ++i) date.value.microsecond *= 10;
    date.value.decimals = static_cast<uint8_t>(fraction_digits_);
    return date;
  }

  // They belong to the fraction all the same, and the first of them rounds it.
  bool skip_digits_behind_fraction() {
    const bool more = fraction_digits_ == 6 && !rest_.empty() && is_digit(rest_[0]);
    if (!more) return false;
    const bool round_up = rest_[0] >= '5';
    while (!rest_.empty() && is_digit(rest_[0])) rest_.remove_prefix(1);
    return round_up;
  }

  static void add_microsecond(Temporal& value) {
    constexpr uint32_t kLast = 999'999;
    if (value.microsecond < kLast)
      ++value.microsecond;
    else if (value.month != 0 && value.day != 0)
      value = datetime_from_unix(to_unix_seconds(value) + 1, 0, value.decimals);
  }

  std::string_view rest_;
  std::array<uint32_t, kParts> numbers_{};
  bool digits_alone_ = false;
  size_t year_digits_ = 0;
  size_t fraction_digits_ = 0;
};

}  // namespace

std::optional<DateText> read_date_text(std::string_view text) {
  return Reader(text).read();
}

}  // namespace commitd

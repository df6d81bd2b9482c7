#include "sql/expression/typed_literal.h"

#include <algorithm>

#include "base/temporal.h"
#include "sql/expression/store/kinds.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {
namespace {

bool has_zero_part(const Temporal& t) {
  return t.month == 0 || t.day == 0;
}

// '2020-01-01 00:00:00' is no date, whatever its time is.
bool says_time(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr size_t kNumbersOfDate = 3, kDigitsOfDate = 8;
  size_t numbers = 0;
  while (true) {
    const size_t begin = text.find_first_of(kDigits);
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
    if (++numbers > kNumbersOfDate || digits > kDigitsOfDate) return true;
    text.remove_prefix(digits);
  }
}

}  // namespace

std::optional<Value> literal_of_type(ast::CastType type, std::string_view text, uint64_t mode) {
  if (type == ast::CastType::Time) {
    const auto time = parse_time(text);
    return time ? std::optional(Value::temporal(*time)) : std::nullopt;
  }
  auto t = parse_datetime(text);
  if (!t) t = store::with_zero_parts(text);
  if (!t) return std::nullopt;
  const uint64_t forbidden = is_zero_date(*t) ? sql_mode::kNoZeroDate : sql_mode::kNoZeroInDate;
  if (has_zero_part(*t) && (mode & forbidden) != 0) return std::nullopt;
  if (type == ast::CastType::Date) {
    if (says_time(text)) return std::nullopt;
    t->kind = Temporal::Kind::Date;
    t->decimals = 0;
  }
  return Value::temporal(*t);
}

}  // namespace commitd::sql

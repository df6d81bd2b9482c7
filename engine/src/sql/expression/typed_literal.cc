#include "sql/expression/typed_literal.h"

#include "base/temporal.h"
#include "sql/expression/store/kinds.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {
namespace {

bool has_zero_part(const Temporal& t) {
  return t.month == 0 || t.day == 0;
}

bool has_clock(const Temporal& t) {
  return t.hour != 0 || t.minute != 0 || t.second != 0 || t.microsecond != 0;
}

}  // namespace

std::optional<Value> literal_of_type(ast::CastType type, std::string_view text, uint64_t mode) {
  if (type == ast::CastType::Time) {
    const auto time = parse_time(text);
    return time ? std::optional(Value::temporal(*time)) : std::nullopt;
  }
  auto t = parse_datetime(text);
  if (!t) t = store::with_zero_parts(std::string(text));
  if (!t) return std::nullopt;
  const uint64_t forbidden = is_zero_date(*t) ? sql_mode::kNoZeroDate : sql_mode::kNoZeroInDate;
  if (has_zero_part(*t) && (mode & forbidden) != 0) return std::nullopt;
  if (type == ast::CastType::Date) {
    if (has_clock(*t)) return std::nullopt;
    t->kind = Temporal::Kind::Date;
    t->decimals = 0;
  }
  return Value::temporal(*t);
}

}  // namespace commitd::sql

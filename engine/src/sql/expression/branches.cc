#include "sql/expression/branches.h"

#include "sql/expression/bit_text.h"
#include "sql/expression/times_and_dates.h"

namespace commitd::sql {

ExpressionPtr branch_of(const ValueType& common, ExpressionPtr branch) {
  if (common.is_string()) return text_of_bits(std::move(branch));
  const bool with_date = common.type == FieldType::DateTime || common.type == FieldType::Timestamp;
  return with_date && is_time(branch->type()) ? time_of_today(std::move(branch)) : std::move(branch);
}

}  // namespace commitd::sql

// Turning a value into one that a column can hold, with MySQL's errors (strict mode) or warnings (otherwise,
// and with IGNORE).
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "sql/diagnostics.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

struct StoreContext {
  Diagnostics& diagnostics;
  bool strict = true;  // errors instead of adjusted values with warnings
  uint64_t sql_mode = 0;
  int32_t time_zone_offset = 0;  // TIMESTAMP columns hold UTC
  uint64_t row = 1;              // named in messages
  std::string_view table = {};   // likewise
  int64_t local_seconds = 0;     // when: a TIME in a DATE or DATETIME column is one of that day; 0: is none
};

// NULL stays NULL; whether the column takes that is the caller's business.
Result<Value> convert_for_column(const ColumnDef& column, const Value& value, StoreContext& context);

// What a NOT NULL column without a default gets when it must have something.
Value implicit_default(const ColumnDef& column);

}  // namespace commitd::sql

// Whether rows of an event stand as those of a table here: TABLE_MAP says of what types they are.
#pragma once

#include "base/result.h"
#include "binlog/events.h"
#include "storage/record/table_def.h"

namespace commitd::binlog {

// 1677 where they do not: read as the table's they would be other values. What does not change how a value
// stands (VARCHAR(10) and VARCHAR(20), UNSIGNED) may differ. There are as many columns in both.
Status check_column_layout(const TableDef& table, const TableMapEvent& map);

}  // namespace commitd::binlog

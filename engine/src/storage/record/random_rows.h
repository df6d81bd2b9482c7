// For tests: a table with a column of every type, and random rows for it.
#pragma once

#include <random>

#include "storage/record/row_image.h"

namespace commitd::testing {

TableDef table_of_every_type();
Value random_value(const ColumnDef& column, std::mt19937_64& random);
Row random_row(const TableDef& table, std::mt19937_64& random);

// The order SQL gives to two values of one column; NULL first.
int compare_values(const ColumnDef& column, const Value& left, const Value& right);

}  // namespace commitd::testing

// How one table of a statement is read: by a unique key, by ranges of an index, or all of it. Conditions only
// choose the path; all but KeyRanges::implied are checked on the rows again, so a path may give too many rows
// but never too few.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/expression/expression.h"
#include "storage/record/table_def.h"
#include "txn/transaction.h"

namespace commitd::sql {

// What the conditions say about one column of an index. Expressions read only sources that come earlier.
struct ColumnBound {
  const Expression* equal = nullptr;
  const std::vector<ExpressionPtr>* any_of = nullptr;  // IN list
  bool is_null = false;
  const Expression* lower = nullptr;
  const Expression* upper = nullptr;
  bool lower_inclusive = true, upper_inclusive = true;
  const Expression* between = nullptr;  // the condition that gave both ends

  bool fixed() const { return equal != nullptr || any_of != nullptr || is_null; }
  bool bounded() const { return lower != nullptr || upper != nullptr; }
};

struct AccessPath {
  const IndexDef* index = nullptr;
  std::vector<ColumnBound> bounds;  // for the first columns of the index
  bool unique = false;              // all columns of a unique index have one value
  bool backwards = false;
  bool ordered = false;  // rows come in the order that ORDER BY wants
};

// `conditions`: conjuncts that hold for every row wanted. `available`: sources (bits) whose rows are known
// when this one is read.
AccessPath choose_path(const TableDef& table, size_t source, std::span<const Expression* const> conditions,
                       uint64_t available);

// The ranges to read now; none when no row can match.
struct KeyRanges {
  std::vector<txn::IndexRange> ranges;
  bool point = false;                   // ranges[0].lower has the values of a unique key
  const Expression* implied = nullptr;  // a condition that holds for whatever is in the ranges
};
Result<KeyRanges> key_ranges(const AccessPath& path, const TableDef& table, Evaluation& evaluation);

// The values of a unique key that a path with one value for each column looks up. NotExact: one of them is
// none that the column could have, and the conditions on the rows must decide.
enum class PointKey : uint8_t { Found, NoRow, NotExact };
PointKey point_key(const AccessPath& path, const TableDef& table, Evaluation& evaluation,
                   std::vector<Value>& key);

// Nothing warns in point_key(), so that the values may be evaluated once more: text that stands for a number
// would.
bool is_silent_point(const AccessPath& path, const TableDef& table);

// One line for EXPLAIN: "PRIMARY", "const" …
std::string_view access_type(const AccessPath& path, const TableDef& table);

}  // namespace commitd::sql

#include "sql/query/access_path.h"

#include <algorithm>

#include "base/charset/collation.h"
#include "sql/expression/column_store.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/session_state.h"
#include "storage/record/key_codec.h"

namespace commitd::sql {
namespace {

using ast::Op;

// The column of this source that the expression is, or -1.
int column_of(const Expression& expression, size_t source) {
  const auto* reference = dynamic_cast<const ColumnReference*>(&expression);
  return reference != nullptr && reference->source() == source ? static_cast<int>(reference->column()) : -1;
}

bool order_of_labels(const ColumnDef& column) {
  return has_labels(column.type) || column.type == FieldType::Bit || column.type == FieldType::Json;
}

// A condition over several values compares texts as the column's index orders them.
bool goes_by(uint16_t collation, const Expression& column) {
  return !column.type().is_string() || column.type().collation == collation;
}

// Index order and comparison agree on this pair.
bool comparable(const ColumnDef& column, const Expression& value) {
  if (order_of_labels(column) || value.type().type == FieldType::Json) return false;
  const ValueType type = type_of_column(column);
  if (!type.is_string()) return true;
  const bool text = value.type().is_string() || value.type().type == FieldType::Null;
  return text && comparison_collation(type, value.type()) == column.collation;
}

Op mirrored(Op op) {
  switch (op) {
    case Op::Less:
      return Op::Greater;
    case Op::LessEqual:
      return Op::GreaterEqual;
    case Op::Greater:
      return Op::Less;
    case Op::GreaterEqual:
      return Op::LessEqual;
    default:
      return op;
  }
}

class BoundCollector {
 public:
  BoundCollector(const TableDef& table, size_t source, uint64_t available)
      : table_(table), source_(source), available_(available), bounds_(table.columns.size()) {}

  void add(const Expression& condition) {
    if (const auto parts = comparison_parts(condition)) {
      add_comparison(parts->op, *parts->left, *parts->right);
      add_comparison(mirrored(parts->op), *parts->right, *parts->left);
    } else if (const auto between = between_parts(condition)) {
      if (!goes_by(between->collation, *between->operand)) return;
      add_comparison(Op::GreaterEqual, *between->operand, *between->low);
      add_comparison(Op::LessEqual, *between->operand, *between->high);
      note_between(condition, *between);
    } else if (const auto in = in_parts(condition)) {
      if (goes_by(in->collation, *in->operand)) add_in(*in->operand, *in->list);
    } else if (const Expression* operand = is_null_operand(condition)) {
      if (const int column = column_of(*operand, source_); column >= 0) at(column).is_null = true;
    }
  }
  const ColumnBound& bound(size_t column) const { return bounds_[column]; }

 private:
  ColumnBound& at(int column) { return bounds_[static_cast<size_t>(column)]; }
  bool usable(int column, const Expression& value) const {
    return (value.sources & ~available_) == 0 && !value.has_aggregate &&
           comparable(table_.columns[static_cast<size_t>(column)], value);
  }
  void add_comparison(Op op, const Expression& left, const Expression& right) {
    const int column = column_of(left, source_);
    if (column < 0 || !usable(column, right)) return;
    ColumnBound& bound = at(column);
    if (op == Op::Equal) {
      bound.equal = &right;
    } else if (op == Op::Greater || op == Op::GreaterEqual) {
      bound.lower = &right;
      bound.lower_inclusive = op == Op::GreaterEqual;
      bound.between = nullptr;
    } else if (op == Op::Less || op == Op::LessEqual) {
      bound.upper = &right;
      bound.upper_inclusive = op == Op::LessEqual;
      bound.between = nullptr;
    }
  }
  void note_between(const Expression& condition, const BetweenParts& parts) {
    const int column = column_of(*parts.operand, source_);
    if (column < 0 || at(column).lower != parts.low || at(column).upper != parts.high) return;
    at(column).between = &condition;
  }
  void add_in(const Expression& operand, const Expressions& list) {
    const int column = column_of(operand, source_);
    if (column < 0) return;
    const bool all_usable = std::all_of(list.begin(), list.end(),
                                        [&](const ExpressionPtr& item) { return usable(column, *item); });
    if (all_usable) at(column).any_of = &list;
  }

  const TableDef& table_;
  size_t source_;
  uint64_t available_;
  std::vector<ColumnBound> bounds_;
};

AccessPath path_by(const IndexDef& index, const BoundCollector& collector) {
  AccessPath path;
  path.index = &index;
  bool one_value_each = index.unique && !index.columns.empty();
  for (const IndexColumn& part : index.columns) {
    const ColumnBound& bound = collector.bound(part.column);
    if (!bound.fixed() && !bound.bounded()) {
      one_value_each = false;
      break;
    }
    if (part.prefix_length != 0 && bound.equal == nullptr) {
      one_value_each = false;
      break;
    }
    path.bounds.push_back(bound);
    if (bound.equal == nullptr || part.prefix_length != 0) one_value_each = false;
    if (!bound.fixed() || part.prefix_length != 0) break;
  }
  path.unique = one_value_each && path.bounds.size() == index.columns.size();
  return path;
}

// Larger is better: a unique row, then columns with one value, then a range at the end; the clustered index
// saves the second look-up.
int worth(const AccessPath& path) {
  if (path.unique) return 1000 + (path.index->primary ? 1 : 0);
  int score = 0;
  for (const ColumnBound& bound : path.bounds) {
    score += bound.equal != nullptr || bound.is_null            ? 10
             : bound.any_of != nullptr                          ? 8
             : bound.lower != nullptr && bound.upper != nullptr ? 4
                                                                : 2;
  }
  if (score > 0 && path.index->primary) ++score;
  return score;
}

// The value as the index holds it; nullopt when that would not compare as the original does.
std::optional<Value> key_value(const ColumnDef& column, const Value& value, Evaluation& evaluation) {
  const int32_t offset = evaluation.session().settings.time_zone_offset;
  if (column.type == FieldType::Timestamp2 && offset != 0) return std::nullopt;
  Diagnostics ignored;
  StoreContext context{ignored, true, 0, 0, 1};
  auto converted = convert_for_column(column, value, context);
  if (!converted.ok() || compare_values(*converted, value, column.collation) != 0) return std::nullopt;
  return *std::move(converted);
}

struct Fixed {
  std::vector<std::vector<Value>> values;  // per column: one, or those of the IN list
  bool none = false;                       // no row can match
};

// NULL never equals anything.
bool add_fixed(Fixed& fixed, const ColumnBound& bound, const ColumnDef& column, Evaluation& evaluation) {
  std::vector<Value> values;
  if (bound.is_null) {
    values.push_back(Value::null());
  } else {
    const size_t count = bound.equal != nullptr ? 1 : bound.any_of->size();
    for (size_t i = 0; i < count; ++i) {
      const Expression& expression = bound.equal != nullptr ? *bound.equal : *(*bound.any_of)[i];
      Value scratch;
      const Value& value = expression.evaluate(evaluation, scratch);
      if (value.is_null()) continue;
      std::optional<Value> key = key_value(column, value, evaluation);
      if (!key) return false;
      values.push_back(*std::move(key));
    }
    std::sort(values.begin(), values.end(),
              [&](const Value& l, const Value& r) { return order_values(l, r, column.collation) < 0; });
    values.erase(std::unique(values.begin(), values.end(),
                             [&](const Value& l, const Value& r) {
                               return order_values(l, r, column.collation) == 0;
                             }),
                 values.end());
    if (values.empty()) fixed.none = true;
  }
  fixed.values.push_back(std::move(values));
  return true;
}

constexpr size_t kMostRanges = 10000;

std::vector<std::vector<Value>> combinations(const Fixed& fixed) {
  std::vector<std::vector<Value>> all(1);
  for (const std::vector<Value>& values : fixed.values) {
    std::vector<std::vector<Value>> longer;
    for (const std::vector<Value>& prefix : all) {
      for (const Value& value : values) {
        longer.push_back(prefix);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

bool is_integer(const std::optional<txn::Bound>& end) {
  if (!end || end->values.empty()) return false;
  const Value::Kind kind = end->values.back().kind();
  return kind == Value::Kind::Int || kind == Value::Kind::UInt;
}

// Integers in an index are exactly those between the ends, and NULL lies below every lower end.
bool implies_condition(const AccessPath& path, const TableDef& table, const txn::IndexRange& range) {
  if (path.bounds.size() != 1 || path.bounds[0].fixed() || path.bounds[0].between == nullptr) return false;
  const ColumnDef& column = table.columns[path.index->columns[0].column];
  return type_of_column(column).is_integer() && is_integer(range.lower) && is_integer(range.upper);
}

// Adds the bounds on the column behind the fixed ones; false when no row can match.
bool add_range(txn::IndexRange& range, const ColumnBound& bound, const ColumnDef& column,
               Evaluation& evaluation) {
  auto extend = [&](const Expression* expression, bool inclusive, std::optional<txn::Bound>& end) {
    if (expression == nullptr) return true;
    Value scratch;
    const Value& value = expression->evaluate(evaluation, scratch);
    if (value.is_null()) return false;
    if (std::optional<Value> key = key_value(column, value, evaluation)) {
      if (!end) end.emplace();
      end->values.push_back(*std::move(key));
      end->inclusive = inclusive;
    }
    return true;
  };
  if (!extend(bound.lower, bound.lower_inclusive, range.lower)) return false;
  if (!extend(bound.upper, bound.upper_inclusive, range.upper)) return false;
  // A range without a lower end starts behind the NULLs; they come first and never match. Their rows are
  // filtered out by the condition.
  return true;
}

}  // namespace

AccessPath choose_path(const TableDef& table, size_t source, std::span<const Expression* const> conditions,
                       uint64_t available) {
  BoundCollector collector(table, source, available);
  for (const Expression* condition : conditions) collector.add(*condition);
  AccessPath best;
  best.index = &table.clustered();
  int best_worth = 0;
  for (const IndexDef& index : table.indexes) {
    if (index.columns.empty()) continue;  // the hidden row id
    AccessPath path = path_by(index, collector);
    if (const int value = worth(path); value > best_worth) {
      best_worth = value;
      best = std::move(path);
    }
  }
  return best;
}

Result<KeyRanges> key_ranges(const AccessPath& path, const TableDef& table, Evaluation& evaluation) {
  KeyRanges result;
  Fixed fixed;
  size_t used = 0;
  bool all_fixed = true;
  for (; used < path.bounds.size() && path.bounds[used].fixed(); ++used) {
    const ColumnDef& column = table.columns[path.index->columns[used].column];
    if (!add_fixed(fixed, path.bounds[used], column, evaluation)) {
      all_fixed = false;
      break;
    }
    if (fixed.none) return result;
  }
  COMMITD_RETURN_IF_ERROR(evaluation.status());
  size_t count = 1;
  for (const auto& values : fixed.values) count *= values.size();
  while (count > kMostRanges) {  // too many combinations: read more and let the conditions decide
    count /= fixed.values.back().size();
    fixed.values.pop_back();
    all_fixed = false;
  }
  result.point = path.unique && all_fixed && count == 1;
  for (const std::vector<Value>& values : combinations(fixed)) {
    txn::IndexRange range;
    if (!values.empty()) range = txn::IndexRange::equal(values);
    const bool range_follows = all_fixed && used < path.bounds.size() && path.bounds[used].bounded();
    if (range_follows &&
        !add_range(range, path.bounds[used], table.columns[path.index->columns[used].column], evaluation))
      continue;
    if (implies_condition(path, table, range)) result.implied = path.bounds[0].between;
    result.ranges.push_back(std::move(range));
  }
  COMMITD_RETURN_IF_ERROR(evaluation.status());
  return result;
}

PointKey point_key(const AccessPath& path, const TableDef& table, Evaluation& evaluation,
                   std::vector<Value>& key) {
  key.clear();
  for (size_t i = 0; i < path.bounds.size(); ++i) {
    if (path.bounds[i].equal == nullptr) return PointKey::NotExact;
    Value scratch;
    const Value& value = path.bounds[i].equal->evaluate(evaluation, scratch);
    if (value.is_null()) return PointKey::NoRow;
    std::optional<Value> exact = key_value(table.columns[path.index->columns[i].column], value, evaluation);
    if (!exact) return PointKey::NotExact;
    key.push_back(*std::move(exact));
  }
  return PointKey::Found;
}

bool is_silent_point(const AccessPath& path, const TableDef& table) {
  for (size_t i = 0; i < path.bounds.size(); ++i) {
    const Expression* value = path.bounds[i].equal;
    if (value == nullptr || !value->is_constant()) return false;
    const bool beside_text = type_of_column(table.columns[path.index->columns[i].column]).is_string();
    if (!value->type().is_integer() && !(value->type().is_string() && beside_text)) return false;
  }
  return true;
}

std::string_view access_type(const AccessPath& path, const TableDef& table) {
  if (path.unique) return path.index->primary ? "const" : "eq_ref";
  if (path.bounds.empty()) return path.index == &table.clustered() ? "ALL" : "index";
  const bool one_value = std::all_of(path.bounds.begin(), path.bounds.end(),
                                     [](const ColumnBound& b) { return b.equal != nullptr; });
  return one_value ? "ref" : "range";
}

}  // namespace commitd::sql

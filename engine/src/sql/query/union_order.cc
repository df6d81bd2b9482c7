#include "sql/query/union_order.h"

#include <algorithm>

#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/query/from_clause.h"
#include "sql/query/precompute.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

struct SortKey {
  size_t column = 0;
  uint16_t collation = 0;
  bool descending = false;
};

// The column that is named or counted; nullopt: it is an expression.
std::optional<size_t> named_column(const ast::Expr& tree, std::span<const ResultColumn> columns) {
  if (tree.kind == ast::ExprKind::Integer) {
    const auto number = static_cast<size_t>(leading_integer(tree.text));
    if (number >= 1 && number <= columns.size()) return number - 1;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (tree.kind == ast::ExprKind::Column && tree.table.empty() && same_name(columns[i].name, tree.text))
      return i;
  }
  return std::nullopt;
}

// The table that a name in the expression is of: those of the parts are not seen here.
std::string_view named_table(const ast::Expr& tree) {
  if (tree.kind == ast::ExprKind::Column && !tree.table.empty()) return tree.table;
  for (const ast::Expr* argument : tree.arguments) {
    if (const std::string_view table = named_table(*argument); !table.empty()) return table;
  }
  return {};
}

Status check_expression(const ast::Expr& tree, size_t number) {
  if (tree.kind == ast::ExprKind::Integer)
    return make_error(er::kBadField, "Unknown column '{}' in 'order clause'", tree.source);
  if (const std::string_view table = named_table(tree); !table.empty())
    return make_error(er::kTablenameNotAllowedHere,
                      "Table '{}' from one of the SELECTs cannot be used in order clause", table);
  if (has_aggregate(tree))
    return make_error(er::kAggregateOrderForUnion,
                      "Expression #{} of ORDER BY contains aggregate function and applies to a UNION",
                      number);
  return {};
}

class UnionSorter {
 public:
  UnionSorter(StatementContext& context, std::span<const ResultColumn> columns, std::vector<Row>& rows)
      : context_(context), columns_(columns), rows_(rows), width_(columns.size()) {}

  Task<Status> sort(const ast::List<ast::OrderItem>& order) {
    auto source = source_of_result("", columns_, {}, nullptr);
    if (!source.ok()) co_return std::move(source).error();
    scope_.sources.push_back(*std::move(source));
    for (size_t i = 0; i < order.size(); ++i) {
      const auto column = named_column(*order[i].expression, columns_);
      if (column) {
        keys_.push_back({*column, columns_[*column].value_collation, order[i].descending});
        continue;
      }
      COMMITD_CO_RETURN_IF_ERROR(check_expression(*order[i].expression, i + 1));
      COMMITD_CO_RETURN_IF_ERROR(co_await add_values(order[i]));
    }
    const auto comes_first = [this](const Row& l, const Row& r) { return is_before(l, r); };
    COMMITD_CO_RETURN_IF_ERROR(co_await sort_in_turns(context_.turn, context_.session, rows_, comes_first));
    for (Row& row : rows_) row.resize(columns_.size());
    co_return Status();
  }

 private:
  // Every row gets the expression's value behind its columns.
  Task<Status> add_values(const ast::OrderItem& item) {
    COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context_, item.expression));
    Binder binder = context_.binder(scope_);
    auto bound = binder.bind(*item.expression, "order clause");
    if (!bound.ok()) co_return std::move(bound).error();
    Evaluation evaluation = context_.evaluation();
    for (Row& row : rows_) {
      evaluation.rows.assign(1, row.data());
      Value scratch;
      Value value = (*bound)->evaluate(evaluation, scratch);
      COMMITD_CO_RETURN_IF_ERROR(evaluation.status());
      row.push_back(std::move(value));
      COMMITD_CO_RETURN_IF_ERROR(co_await take_turn(context_));
    }
    keys_.push_back({width_++, (*bound)->type().collation, item.descending});
    co_return Status();
  }

  bool is_before(const Row& l, const Row& r) const {
    for (const SortKey& key : keys_) {
      const auto compared = order_values(l[key.column], r[key.column], key.collation);
      if (compared != 0) return key.descending ? compared > 0 : compared < 0;
    }
    return false;
  }

  StatementContext& context_;
  const std::span<const ResultColumn> columns_;
  std::vector<Row>& rows_;
  size_t width_;  // of a row, with the values that were added
  Scope scope_;
  std::vector<SortKey> keys_;
};

}  // namespace

Task<Status> sort_union(StatementContext& context, const ast::SelectStatement& select,
                        std::span<const ResultColumn> columns, std::vector<Row>& rows) {
  if (select.order_by.empty()) co_return Status();
  UnionSorter sorter(context, columns, rows);
  co_return co_await sorter.sort(select.order_by);
}

}  // namespace commitd::sql

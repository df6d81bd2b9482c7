// Rows of several values: those that are written, and those of subqueries. (a, b) = (c, d) compares item by
// item; (a, b) < (c, d) the first items that differ.
#include "base/error_codes.h"
#include "sql/ast/select.h"
#include "sql/bind/binder.h"
#include "sql/bind/row_side.h"
#include "sql/expression/operators.h"

namespace commitd::sql {

using ast::ExprKind;
using ast::Op;

// Of a subquery that is not known yet, as far as its text says it.
bool Binder::is_row(const ast::Expr& tree) const {
  if (tree.kind != ExprKind::Subquery) return tree.kind == ExprKind::Row;
  const auto known = precomputed_.subqueries.find(&tree);
  return known == precomputed_.subqueries.end() ? tree.select->items.size() > 1
                                                : known->second->types.size() > 1;
}

RowSide Binder::row_side(const ast::Expr& tree) {
  if (tree.kind == ExprKind::Row) return {.width = tree.arguments.size(), .written = &tree};
  if (tree.kind != ExprKind::Subquery) return {};
  if (const auto known = precomputed_.subqueries.find(&tree); known != precomputed_.subqueries.end()) {
    if (known->second->rows.size() > 1) {
      if (!precomputed_.several_rows_are_null)
        fail(several_rows());
      else
        session_.diagnostics.warn(several_rows());
    }
    return {.width = known->second->types.size(), .known = known->second.get()};
  }
  auto rows = rows_of(tree);
  if (!rows.ok()) {
    fail(std::move(rows).error());
    return {};
  }
  std::shared_ptr<const RowSource> source = *std::move(rows);
  const size_t width = source->types.size();
  return {.width = width, .source = std::move(source)};
}

ExpressionPtr Binder::item_of(const RowSide& side, size_t item) {
  if (side.written != nullptr) return node(*side.written->arguments[item]);
  if (side.known == nullptr)
    return make_scalar_subquery(side.source, precomputed_.several_rows_are_null, item);
  ValueType type = side.known->types[item];
  type.nullable = true;
  return std::make_unique<Constant>(side.known->rows.size() != 1 ? Value::null() : side.known->rows[0][item],
                                    type);
}

ExpressionPtr Binder::row_comparison(Op op, const ast::Expr& left, const ast::Expr& right) {
  const RowSide l = row_side(left), r = row_side(right);
  if (error_) return null();
  if (l.width != r.width || l.width == 1)
    return fail(make_error(er::kOperandColumns, "Operand should contain {} column(s)", l.width));
  if (op == Op::NotEqual) return make_not(row_comparison(Op::Equal, l, r, 0));
  return row_comparison(op, l, r, 0);
}

// Of what is behind `from` items that are equal.
ExpressionPtr Binder::row_comparison(Op op, const RowSide& left, const RowSide& right, size_t from) {
  if (from + 1 == left.width) return item_comparison(op, left, right, from);
  ExpressionPtr rest = row_comparison(op, left, right, from + 1);
  if (op == Op::Equal || op == Op::NullSafeEqual)
    return make_logic(Op::And, item_comparison(op, left, right, from), std::move(rest));
  const Op strict = op == Op::LessEqual ? Op::Less : op == Op::GreaterEqual ? Op::Greater : op;
  ExpressionPtr tie = make_logic(Op::And, item_comparison(Op::Equal, left, right, from), std::move(rest));
  return make_logic(Op::Or, item_comparison(strict, left, right, from), std::move(tie));
}

ExpressionPtr Binder::item_comparison(Op op, const RowSide& left, const RowSide& right, size_t item) {
  if (left.written != nullptr && right.written != nullptr) {
    const ast::Expr& l = *left.written->arguments[item];
    const ast::Expr& r = *right.written->arguments[item];
    if (is_row(l) || is_row(r)) return row_comparison(op, l, r);
  }
  return comparison(op, item_of(left, item), item_of(right, item));
}

}  // namespace commitd::sql

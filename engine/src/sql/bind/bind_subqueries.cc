// Subqueries: their rows, known before the statement is bound or read for each row of it.
#include <utility>

#include "base/error_codes.h"
#include "sql/bind/binder.h"
#include "sql/bind/row_side.h"
#include "sql/expression/operators.h"
#include "storage/record/column_format.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;
using ast::Op;

class KnownRows : public RowSource {
 public:
  explicit KnownRows(std::shared_ptr<SubqueryResult> result) : result_(std::move(result)) {
    types = result_->types;
    for (const auto& of_column : result_->labels) labels.push_back(of_column.get());
  }
  bool read(Evaluation&, std::vector<Row>& rows) const override {
    rows = result_->rows;
    return true;
  }

 private:
  std::shared_ptr<SubqueryResult> result_;
};

}  // namespace

Result<RowSourcePtr> Binder::rows_of(const ast::Expr& tree) {
  if (const auto found = precomputed_.subqueries.find(&tree); found != precomputed_.subqueries.end())
    return RowSourcePtr(std::make_unique<KnownRows>(found->second));
  const auto correlated = precomputed_.correlated.find(tree.select);
  if (correlated == precomputed_.correlated.end())
    return make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support 'subqueries in {}'",
                      clause_);
  const uint64_t before = std::exchange(used_by_subquery_, 0);
  const bool aggregate_before = std::exchange(aggregate_in_subquery_, false);
  auto rows = correlated->second->bind(*this, tree.kind == ExprKind::Exists);
  if (rows.ok()) {
    (*rows)->sources = used_by_subquery_;
    (*rows)->has_aggregate = aggregate_in_subquery_;
  }
  used_by_subquery_ |= before;
  aggregate_in_subquery_ |= aggregate_before;
  return rows;
}

ExpressionPtr Binder::subquery(const ast::Expr& tree) {
  auto opened = rows_of(tree);
  if (!opened.ok()) return fail(std::move(opened).error());
  RowSourcePtr rows = *std::move(opened);
  if (tree.kind == ExprKind::Exists) return make_exists(std::move(rows));
  if (tree.kind == ExprKind::Subquery) {
    if (rows->types.size() != 1)
      return fail(make_error(er::kOperandColumns, "Operand should contain 1 column(s)"));
    return known_scalar(tree) ? known_value(tree)
                              : make_scalar_subquery(std::move(rows), precomputed_.several_rows_are_null);
  }
  const ast::Expr& left = *tree.arguments[0];
  const RowSide side = is_row(left) ? row_side(left) : RowSide();
  if (error_) return null();
  const size_t width = side.width;
  if (rows->types.size() != width)
    return fail(make_error(er::kOperandColumns, "Operand should contain {} column(s)", width));
  const bool in = tree.kind == ExprKind::InSelect || (tree.kind == ExprKind::AnyOf && tree.op == Op::Equal);
  const auto known = precomputed_.subqueries.find(&tree);
  if (in && width == 1 && known != precomputed_.subqueries.end()) {
    ExpressionPtr operand = node(left);
    const ColumnDef* labels = is_number(operand->type()) ? rows->labels[0] : nullptr;
    Expressions list;
    for (const Row& row : known->second->rows) {
      if (labels != nullptr && !row[0].is_null())
        list.push_back(std::make_unique<Constant>(Value::unsigned_integer(label_number(*labels, row[0]))));
      else
        list.push_back(std::make_unique<Constant>(row[0], known->second->types[0]));
    }
    return make_in(std::move(operand), std::move(list), tree.negated);
  }
  if (width > 1 && !in && !(tree.kind == ExprKind::AllOf && tree.op == Op::NotEqual))
    return fail(make_error(er::kOperandColumns, "Operand should contain 1 column(s)"));
  Expressions operands;
  if (width == 1) operands.push_back(node(left));
  for (size_t i = 0; width > 1 && i < width; ++i) operands.push_back(item_of(side, i));
  ExpressionPtr test;
  if (width > 1 && tree.kind == ExprKind::AllOf)  // <> ALL: not = ANY
    return make_not(make_quantified(Op::Equal, false, std::move(operands), std::move(rows)));
  test = make_quantified(in ? Op::Equal : tree.op, tree.kind == ExprKind::AllOf, std::move(operands),
                         std::move(rows));
  return tree.negated ? make_not(std::move(test)) : std::move(test);
}

bool Binder::known_scalar(const ast::Expr& tree) const {
  return precomputed_.subqueries.contains(&tree);
}

ExpressionPtr Binder::known_value(const ast::Expr& tree) {
  const SubqueryResult& result = *precomputed_.subqueries.find(&tree)->second;
  const bool several = result.rows.size() > 1;
  if (several && !precomputed_.several_rows_are_null) return fail(several_rows());
  if (several) session_.diagnostics.warn(several_rows());
  ValueType type = result.types[0];
  type.nullable = true;
  return std::make_unique<Constant>(result.rows.size() != 1 ? Value::null() : result.rows[0][0], type);
}

}  // namespace commitd::sql

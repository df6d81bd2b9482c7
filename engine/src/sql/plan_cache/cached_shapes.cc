#include "sql/plan_cache/cached_shapes.h"

#include <algorithm>

namespace commitd::sql {

using ast::ExprKind;
using ast::Op;

bool is_literal(const ast::Expr& tree) {
  return tree.kind <= ExprKind::Bits ||
         (tree.kind == ExprKind::Unary && tree.op == Op::Negate && tree.arguments[0]->kind <= ExprKind::Bits);
}

bool is_operand(const ast::Expr* tree) {
  return tree->kind == ExprKind::Column || tree->kind == ExprKind::Parameter || is_literal(*tree);
}

namespace {

bool all_operands(const ast::Expr& tree) {
  return std::all_of(tree.arguments.begin(), tree.arguments.end(), is_operand);
}

}  // namespace

// Parameters stand in comparisons only: there nothing but the kind of a value matters to the binder.
bool is_condition(const ast::Expr& tree) {
  const auto of_conditions = [&tree] {
    return std::all_of(tree.arguments.begin(), tree.arguments.end(),
                       [](const ast::Expr* argument) { return is_condition(*argument); });
  };
  switch (tree.kind) {
    case ExprKind::Binary:
      if (tree.op == Op::And) return of_conditions();
      // || may mean a concatenation.
      if (tree.op == Op::Or) return tree.source.find("||") == std::string_view::npos && of_conditions();
      return tree.op >= Op::Equal && tree.op <= Op::GreaterEqual && all_operands(tree);
    case ExprKind::Unary:
      return tree.op == Op::Not && of_conditions();
    case ExprKind::Between:
    case ExprKind::In:
      return all_operands(tree);
    case ExprKind::IsNull:
      return tree.arguments[0]->kind == ExprKind::Column;
    default:
      return false;
  }
}

bool is_one_table(const ast::List<ast::TableRef>& from) {
  return from.size() == 1 && from[0].derived == nullptr && from[0].nested == nullptr;
}

}  // namespace commitd::sql

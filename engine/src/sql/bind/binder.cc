#include "sql/bind/binder.h"

#include <algorithm>
#include <utility>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/literal.h"
#include "sql/expression/operators.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;
using ast::Op;

// Its value is that of the present execution. Of its type only that counts which the values of all executions
// have in common (executor/cached_select.h).
class ParameterReference : public Expression {
 public:
  explicit ParameterReference(const Value& value) : value_(value) { type_ = type_of_value(value); }
  const Value& evaluate(Evaluation&, Value&) const override { return value_; }
  bool is_constant() const override { return true; }

 private:
  const Value& value_;
};

}  // namespace

std::optional<Value> literal_value(const ast::Expr& tree, std::span<const Value> parameters) {
  if (tree.kind == ExprKind::Parameter)
    return tree.parameter < parameters.size() ? parameters[tree.parameter] : Value::null();
  return literal_value(tree);
}

Result<ExpressionPtr> Binder::bind(const ast::Expr& tree, std::string_view clause) {
  clause_ = clause;
  error_.reset();
  ExpressionPtr bound = node(tree);
  if (error_) return *std::move(error_);
  return bound;
}

ExpressionPtr Binder::fail(Error error) {
  if (!error_) error_ = std::move(error);
  return null();
}

Expressions Binder::nodes(const ast::List<ast::Expr*>& trees) {
  Expressions result;
  for (const ast::Expr* tree : trees) result.push_back(node(*tree));
  return result;
}

ExpressionPtr Binder::node(const ast::Expr& tree) {
  switch (tree.kind) {
    case ExprKind::Column:
      return column(tree);
    case ExprKind::UserVariable:
    case ExprKind::SystemVariable:
    case ExprKind::AssignVariable:
      return variable(tree);
    case ExprKind::Unary:
      return unary(tree);
    case ExprKind::Binary:
      return binary(tree);
    case ExprKind::IsNull:
      return make_is_null(node(*tree.arguments[0]), tree.negated);
    case ExprKind::Like: {
      const char escape = tree.separator.empty() ? '\0' : tree.separator[0];
      return make_like(node(*tree.arguments[0]), node(*tree.arguments[1]), escape, tree.negated);
    }
    case ExprKind::Regexp:
      return make_regexp(node(*tree.arguments[0]), node(*tree.arguments[1]), tree.negated);
    case ExprKind::Between:
      return make_between(node(*tree.arguments[0]), node(*tree.arguments[1]), node(*tree.arguments[2]),
                          tree.negated);
    case ExprKind::In:
      return in_list(tree);
    case ExprKind::InSelect:
    case ExprKind::AnyOf:
    case ExprKind::AllOf:
    case ExprKind::Exists:
    case ExprKind::Subquery:
      return subquery(tree);
    case ExprKind::Case:
      return case_of(tree);
    case ExprKind::Function:
      return function(tree);
    case ExprKind::Cast:
      return make_cast(node(*tree.arguments[0]), tree);
    case ExprKind::Collate: {
      const Collation* collation = find_collation(tree.text);
      if (collation == nullptr)
        return fail(make_error(er::kUnknownCollation, "Unknown collation: '{}'", tree.text));
      ExpressionPtr operand = node(*tree.arguments[0]);
      const bool bytes = operand->type().is_string() && operand->type().collation == kBinaryCollation;
      if (bytes && collation->id != kBinaryCollation) {
        constexpr uint16_t kCollationCharsetMismatch = 1253;
        return fail(make_error(kCollationCharsetMismatch,
                               "COLLATION '{}' is not valid for CHARACTER SET 'binary'", tree.text));
      }
      return make_collate(std::move(operand), collation->id);
    }
    case ExprKind::Row:
      return fail(make_error(er::kOperandColumns, "Operand should contain 1 column(s)"));
    case ExprKind::Interval:
    case ExprKind::Star:
    case ExprKind::Default:
      return fail(make_error(er::kParse, "You have an error in your SQL syntax; '{}' is not allowed here",
                             tree.source));
    default:
      return literal(tree);
  }
}

ExpressionPtr Binder::literal(const ast::Expr& tree) {
  if (parameters_stay && tree.kind == ExprKind::Parameter && tree.parameter < parameters_.size())
    return std::make_unique<ParameterReference>(parameters_[tree.parameter]);
  std::optional<Value> value = literal_value(tree, parameters_);
  if (tree.kind == ExprKind::Boolean && value)
    return std::make_unique<Constant>(*std::move(value), ValueType::boolean());
  if (value && is_byte_literal(tree)) return std::make_unique<ByteLiteral>(*std::move(value));
  return value ? std::make_unique<Constant>(*std::move(value)) : null();
}

ExpressionPtr Binder::unary(const ast::Expr& tree) {
  const ast::Expr& operand = *tree.arguments[0];
  switch (tree.op) {
    case Op::Not:
      return make_not(node(operand));
    case Op::IsTrue:
    case Op::IsFalse:
      return make_truth_test(node(operand), tree.op == Op::IsTrue, tree.negated);
    case Op::BitInvert:
      return make_bit_operation(Op::BitInvert, node(operand), nullptr);
    default:
      break;
  }
  // A negative number is a literal, so that comparisons with it can use an index.
  if (auto value = literal_value(tree)) return std::make_unique<Constant>(*std::move(value));
  return make_negation(node(operand));
}

// (a, b) = (c, d) compares column by column; (a, b) < (c, d) the first columns that differ.
ExpressionPtr Binder::row_comparison(Op op, const ast::Expr& left, const ast::Expr& right) {
  if (left.kind != ExprKind::Row || right.kind != ExprKind::Row ||
      left.arguments.size() != right.arguments.size()) {
    return fail(make_error(er::kOperandColumns, "Operand should contain {} column(s)",
                           std::max<size_t>(left.arguments.size(), 1)));
  }
  if (op == Op::NotEqual) return make_not(row_comparison(Op::Equal, left, right));
  if (op != Op::Equal && op != Op::NullSafeEqual) return row_order(op, left, right, 0);
  ExpressionPtr all;
  for (size_t i = 0; i < left.arguments.size(); ++i) {
    const bool rows = left.arguments[i]->kind == ExprKind::Row || right.arguments[i]->kind == ExprKind::Row;
    ExpressionPtr equal = rows ? row_comparison(op, *left.arguments[i], *right.arguments[i])
                               : make_comparison(op, node(*left.arguments[i]), node(*right.arguments[i]));
    all = all ? make_logic(Op::And, std::move(all), std::move(equal)) : std::move(equal);
  }
  return all;
}

ExpressionPtr Binder::row_order(Op op, const ast::Expr& left, const ast::Expr& right, size_t from) {
  const ast::Expr& l = *left.arguments[from];
  const ast::Expr& r = *right.arguments[from];
  if (from + 1 == left.arguments.size()) return make_comparison(op, node(l), node(r));
  const Op strict = op == Op::LessEqual ? Op::Less : op == Op::GreaterEqual ? Op::Greater : op;
  ExpressionPtr tie =
      make_logic(Op::And, make_comparison(Op::Equal, node(l), node(r)), row_order(op, left, right, from + 1));
  return make_logic(Op::Or, make_comparison(strict, node(l), node(r)), std::move(tie));
}

ExpressionPtr Binder::binary(const ast::Expr& tree) {
  const ast::Expr& left = *tree.arguments[0];
  const ast::Expr& right = *tree.arguments[1];
  const bool rows = left.kind == ExprKind::Row || right.kind == ExprKind::Row;
  const bool compares = tree.op >= Op::Equal && tree.op <= Op::GreaterEqual;
  if (rows && compares) return row_comparison(tree.op, left, right);
  switch (tree.op) {
    case Op::Or:
      if (session_.settings.sql_mode & sql_mode::kPipesAsConcat &&
          tree.source.find("||") != std::string_view::npos) {
        Expressions parts;
        parts.push_back(node(left));
        parts.push_back(node(right));
        return make_function(*find_function("CONCAT"), std::move(parts));
      }
      return make_logic(tree.op, node(left), node(right));
    case Op::And:
    case Op::Xor:
      return make_logic(tree.op, node(left), node(right));
    case Op::Equal:
    case Op::NullSafeEqual:
    case Op::NotEqual:
    case Op::Less:
    case Op::LessEqual:
    case Op::Greater:
    case Op::GreaterEqual:
      return make_comparison(tree.op, node(left), node(right));
    case Op::BitOr:
    case Op::BitAnd:
    case Op::BitXor:
    case Op::ShiftLeft:
    case Op::ShiftRight:
      return make_bit_operation(tree.op, node(left), node(right));
    case Op::Add:
    case Op::Subtract:
      if (left.kind == ExprKind::Interval || right.kind == ExprKind::Interval) return date_arithmetic(tree);
      break;
    default:
      break;
  }
  return make_arithmetic(tree.op, node(left), node(right), std::string(tree.source));
}

ExpressionPtr Binder::date_arithmetic(const ast::Expr& tree) {
  const bool interval_first = tree.arguments[0]->kind == ExprKind::Interval;
  const ast::Expr& interval = *tree.arguments[interval_first ? 0 : 1];
  Expressions arguments;
  arguments.push_back(node(*tree.arguments[interval_first ? 1 : 0]));
  arguments.push_back(node(*interval.arguments[0]));
  arguments.push_back(std::make_unique<Constant>(Value::string(std::string(interval.text))));
  return make_function(*find_function(tree.op == Op::Subtract ? "DATE_SUB" : "DATE_ADD"),
                       std::move(arguments));
}

ExpressionPtr Binder::in_list(const ast::Expr& tree) {
  const ast::Expr& operand = *tree.arguments[0];
  if (operand.kind == ExprKind::Row) {
    ExpressionPtr any;
    for (size_t i = 1; i < tree.arguments.size(); ++i) {
      ExpressionPtr equal = row_comparison(Op::Equal, operand, *tree.arguments[i]);
      any = any ? make_logic(Op::Or, std::move(any), std::move(equal)) : std::move(equal);
    }
    return tree.negated ? make_not(std::move(any)) : std::move(any);
  }
  Expressions list;
  for (size_t i = 1; i < tree.arguments.size(); ++i) list.push_back(node(*tree.arguments[i]));
  return make_in(node(operand), std::move(list), tree.negated);
}

ExpressionPtr Binder::case_of(const ast::Expr& tree) {
  Expressions branches = nodes(tree.arguments);
  ExpressionPtr operand;
  if (tree.has_operand) {
    operand = std::move(branches.front());
    branches.erase(branches.begin());
  }
  return make_case(std::move(operand), std::move(branches), tree.has_else);
}

}  // namespace commitd::sql

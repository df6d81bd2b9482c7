// Calls of functions and of aggregate functions.
#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/bind/binder.h"
#include "sql/expression/bit_text.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/conversion.h"
#include "sql/functions/functions.h"

namespace commitd::sql {

using ast::ExprKind;

bool has_aggregate(const ast::Expr& tree) {
  if (tree.kind == ExprKind::Function && aggregate_named(tree.text)) return true;
  return std::any_of(tree.arguments.begin(), tree.arguments.end(),
                     [](const ast::Expr* argument) { return has_aggregate(*argument); });
}

namespace {

bool adds_numbers(AggregateCall::What what) {
  using What = AggregateCall::What;
  switch (what) {
    case What::Sum:
    case What::Average:
    case What::Deviation:
    case What::Variance:
    case What::SampleDeviation:
    case What::SampleVariance:
    case What::BitAnd:
    case What::BitOr:
    case What::BitXor:
      return true;
    default:
      return false;
  }
}

}  // namespace

// An aggregate function of a subquery is that of the statement whose columns it adds up (an alias of that
// statement is one value for it); one that adds up none is that of the first statement around that has groups
// at this place. What it has in itself of others is their business.
bool Binder::belongs_to_outer(const ast::Expr& call) const {
  bool of_outer = false, of_this = false;
  const auto is_column_around = [this](const ast::Expr& name) {
    for (const Binder* around = outer; around != nullptr; around = around->outer) {
      if (around->scope_.find(name.db, name.table, name.text, clause_).ok()) return true;
    }
    return false;
  };
  const auto look = [&](const auto& self, const ast::Expr& tree) -> void {
    if (&tree != &call && tree.kind == ExprKind::Function && aggregate_named(tree.text)) return;
    of_this |= tree.select != nullptr;
    if (tree.kind == ExprKind::Column) {
      const bool is_here = scope_.find(tree.db, tree.table, tree.text, clause_).ok();
      (is_here || !is_column_around(tree) ? of_this : of_outer) = true;
    }
    for (const ast::Expr* argument : tree.arguments) self(self, *argument);
  };
  look(look, call);
  return !of_this && (of_outer || aggregates == nullptr);
}

ExpressionPtr Binder::aggregate_of_outer(const ast::Expr& tree, AggregateCall::What what) {
  std::optional<Error> before = std::exchange(outer->error_, std::nullopt);
  ExpressionPtr found = outer->aggregate(tree, what);
  std::optional<Error> failed = std::exchange(outer->error_, std::move(before));
  if (failed) return fail(*std::move(failed));
  outer->aggregate_in_subquery_ = true;
  return make_outer_reference(std::move(found));
}

// Where no statement around has groups at this place (WHERE, ON), it is one of the subquery.
bool Binder::has_groups_around() const {
  for (const Binder* around = outer; around != nullptr; around = around->outer)
    if (around->aggregates != nullptr) return true;
  return false;
}

ExpressionPtr Binder::aggregate(const ast::Expr& tree, AggregateCall::What what) {
  if (has_groups_around() && belongs_to_outer(tree)) return aggregate_of_outer(tree, what);
  if (aggregates == nullptr || in_aggregate_)
    return fail(make_error(er::kInvalidGroupFuncUse, "Invalid use of group function"));
  AggregateCall call;
  call.what = what;
  call.distinct = tree.distinct;
  call.separator = std::string(tree.separator);
  call.max_length = session_.variables.number(kGroupConcatMaxLen);
  in_aggregate_ = true;
  const bool all_rows = tree.arguments.size() == 1 && tree.arguments[0]->kind == ExprKind::Star;
  if (!all_rows) call.arguments = nodes(tree.arguments);
  if (adds_numbers(what)) {
    for (ExpressionPtr& argument : call.arguments) argument = number_behind_text(std::move(argument));
  }
  if (what == AggregateCall::What::GroupConcat) {
    for (ExpressionPtr& argument : call.arguments) argument = text_of_bits(std::move(argument));
  }
  if (tree.order != nullptr) {
    for (const ast::OrderItem& item : *tree.order) {
      const ast::Expr* expression = item.expression;
      if (expression->kind == ExprKind::Integer) {  // ORDER BY 1: the first argument
        const int64_t number = leading_integer(expression->text);
        if (number < 1 || number > static_cast<int64_t>(tree.arguments.size()))
          return fail(make_error(er::kBadField, "Unknown column '{}' in 'order clause'", expression->text));
        expression = tree.arguments[static_cast<size_t>(number) - 1];
      }
      call.order.emplace_back(node(*expression), item.descending);
    }
  }
  in_aggregate_ = false;
  if (!all_rows && call.arguments.empty()) {
    return fail(
        make_error(er::kParse, "You have an error in your SQL syntax; {} needs an argument", tree.text));
  }
  if (what == AggregateCall::What::JsonObject && call.arguments.size() != 2) {
    return fail(
        make_error(er::kParse, "You have an error in your SQL syntax; {} needs two arguments", tree.text));
  }
  call.type = aggregate_type(what, call.arguments);
  aggregates->push_back(std::move(call));
  return std::make_unique<AggregateReference>(aggregates->size() - 1, aggregates->back().type);
}

Error Binder::no_such_function(std::string_view name) const {
  if (is_absent_function(name))
    return make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support '{}'", name);
  const std::string db = session_.database.empty() ? "" : session_.database + ".";
  return make_error(er::kSpDoesNotExist, "FUNCTION {}{} does not exist", db, lower_case(name));
}

ExpressionPtr Binder::function(const ast::Expr& tree) {
  if (const auto waited = precomputed_.waited.find(&tree); waited != precomputed_.waited.end()) {
    return std::make_unique<Constant>(waited->second);
  }
  if (const auto what = aggregate_named(tree.text)) return aggregate(tree, *what);
  if (tree.distinct)
    return fail(
        make_error(er::kParse, "You have an error in your SQL syntax; {} takes no DISTINCT", tree.text));
  if (tree.text == "DEFAULT") return default_of(*tree.arguments[0]);
  if (tree.text == "VALUES" && insert_table != nullptr && tree.arguments.size() == 1)
    return inserted_value(*tree.arguments[0]);
  Expressions arguments;
  for (const ast::Expr* argument : tree.arguments) {
    if (argument->kind == ExprKind::Interval) {  // DATE_ADD(x, INTERVAL n unit), EXTRACT(unit FROM x)
      for (const ast::Expr* amount : argument->arguments) arguments.push_back(node(*amount));
      arguments.push_back(std::make_unique<Constant>(Value::string(std::string(argument->text))));
    } else {
      arguments.push_back(node(*argument));
    }
  }
  if ((tree.text == "ADDDATE" || tree.text == "SUBDATE") && arguments.size() == 2) {
    arguments.push_back(std::make_unique<Constant>(Value::string("DAY")));
  }
  if (ExpressionPtr conditional = make_conditional(tree.text, arguments)) return conditional;
  const FunctionSpec* spec = find_function(tree.text);
  if (spec == nullptr) return fail(no_such_function(tree.text));
  const auto count = static_cast<int>(arguments.size());
  if (count < spec->least || (spec->most != FunctionSpec::kAnyNumber && count > spec->most)) {
    return fail(make_error(er::kWrongParamcountToNativeFct,
                           "Incorrect parameter count in the call to native function '{}'", tree.text));
  }
  return make_function(*spec, std::move(arguments));
}

}  // namespace commitd::sql

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

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

// TIMESTAMP columns are kept in UTC and shown in the session's time zone.
class LocalTimestamp : public Expression {
 public:
  LocalTimestamp(ExpressionPtr column, int32_t offset) : column_(std::move(column)), offset_(offset) {
    type_ = column_->type();
    sources = column_->sources;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& utc = column_->evaluate(evaluation, scratch);
    if (utc.is_null() || is_zero_date(utc.as_temporal())) return utc;
    const Temporal t = utc.as_temporal();
    scratch = Value::temporal(datetime_from_unix(to_unix_seconds(t) + offset_, t.microsecond, t.decimals));
    return scratch;
  }

 private:
  ExpressionPtr column_;
  int32_t offset_;
};

class InsertedValue : public Expression {
 public:
  InsertedValue(size_t column, ValueType type) : column_(column) { type_ = type; }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    if (evaluation.inserted != nullptr) return evaluation.inserted[column_];
    scratch = Value::null();
    return scratch;
  }

 private:
  size_t column_;
};

class UserVariable : public Expression {
 public:
  UserVariable(SessionState& session, std::string name) : name_(std::move(name)) {
    const auto found = session.user_variables.find(name_);
    type_ = found == session.user_variables.end() ? ValueType::text(1024) : type_of_value(found->second);
    if (type_.type == FieldType::Null) type_ = ValueType::text(1024);
    type_.nullable = true;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const auto found = evaluation.session().user_variables.find(name_);
    if (found != evaluation.session().user_variables.end()) return found->second;
    scratch = Value::null();
    return scratch;
  }

 private:
  std::string name_;
};

class AssignVariable : public Expression {
 public:
  AssignVariable(std::string name, ExpressionPtr value) : name_(std::move(name)), value_(std::move(value)) {
    type_ = value_->type();
    if (type_.type == FieldType::Json) type_ = ValueType::text(type_.length, type_.collation);
    sources = value_->sources;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    scratch = Value(value_->evaluate(evaluation, scratch));
    if (scratch.kind() == Value::Kind::Json) scratch = Value::string(scratch.to_text());
    evaluation.session().user_variables[name_] = scratch;
    return scratch;
  }

 private:
  std::string name_;
  ExpressionPtr value_;
};

// Its value is that of the present execution. Of its type only that counts which the values of all executions
// have in common (executor/kept_select.h).
class ParameterReference : public Expression {
 public:
  explicit ParameterReference(const Value& value) : value_(value) { type_ = type_of_value(value); }
  const Value& evaluate(Evaluation&, Value&) const override { return value_; }
  bool is_constant() const override { return true; }

 private:
  const Value& value_;
};

// A column of the statement around a subquery.
class OuterReference : public Expression {
 public:
  explicit OuterReference(ExpressionPtr column) : column_(std::move(column)) { type_ = column_->type(); }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    return column_->evaluate(*evaluation.outer, scratch);
  }

 private:
  ExpressionPtr column_;
};

class KnownRows : public RowSource {
 public:
  explicit KnownRows(std::shared_ptr<SubqueryResult> result) : result_(std::move(result)) {
    types = result_->types;
  }
  bool read(Evaluation&, std::vector<Row>& rows) const override {
    rows = result_->rows;
    return true;
  }

 private:
  std::shared_ptr<SubqueryResult> result_;
};

}  // namespace

std::optional<Value> literal_value(const ast::Expr& tree, std::span<const Value> parameters) {
  if (tree.kind == ExprKind::Parameter)
    return tree.parameter < parameters.size() ? parameters[tree.parameter] : Value::null();
  return literal_value(tree);
}

Result<Value> system_variable_value(SessionState& session, std::string_view name, ast::VariableScope scope) {
  const size_t ordinal = session.server.variables->find(name);
  if (ordinal == SystemVariables::kNone)
    return make_error(er::kUnknownSystemVariable, "Unknown system variable '{}'", name);
  const VariableDefinition& definition = session.server.variables->definition(ordinal);
  if (scope == ast::VariableScope::Global) {
    if (definition.scope == VariableScope::Session) {
      return make_error(er::kIncorrectGlobalLocalVar, "Variable '{}' is a SESSION variable", definition.name);
    }
    return session.server.variables->global(ordinal);
  }
  if (scope == ast::VariableScope::Session && definition.scope == VariableScope::Global) {
    return make_error(er::kIncorrectGlobalLocalVar, "Variable '{}' is a GLOBAL variable", definition.name);
  }
  if (ordinal == kLastInsertId) return Value::unsigned_integer(session.last_insert_id);
  if (ordinal == kPseudoThreadId) return Value::unsigned_integer(session.connection_id);
  if (ordinal == kTimestamp) return Value::real(static_cast<double>(session.statement_microseconds) / 1e6);
  return session.variables.read(ordinal);
}

bool has_aggregate(const ast::Expr& tree) {
  if (tree.kind == ExprKind::Function && aggregate_named(tree.text)) return true;
  return std::any_of(tree.arguments.begin(), tree.arguments.end(),
                     [](const ast::Expr* argument) { return has_aggregate(*argument); });
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

ExpressionPtr Binder::alias(const ast::Expr& tree) {
  if (items == nullptr || !tree.table.empty()) return nullptr;
  for (const ast::SelectItem& item : *items) {
    if (item.alias.empty() || !same_name(item.alias, tree.text)) continue;
    // An alias inside an aggregate function of HAVING or ORDER BY would nest them; it then means the column.
    if (in_aggregate_) return nullptr;
    return node(*item.expression);
  }
  return nullptr;
}

ExpressionPtr Binder::column(const ast::Expr& tree) {
  if (insert_table != nullptr && !insert_alias.empty() && tree.table == insert_alias)
    return inserted_value(tree);
  if (aliases_first) {
    if (ExpressionPtr aliased = alias(tree)) return aliased;
  }
  auto found = scope_.find(tree.db, tree.table, tree.text, clause_);
  if (!found.ok()) {
    if (found.error().code == er::kBadField) {
      if (ExpressionPtr aliased = alias(tree)) return aliased;
      if (outer != nullptr) return column_of_outer(tree, std::move(found).error());
    }
    return fail(std::move(found).error());
  }
  const SourceColumn& source = scope_.sources[found->source].columns[found->column];
  ExpressionPtr reference =
      std::make_unique<ColumnReference>(found->source, found->column, source.type, source.definition);
  const bool utc = source.definition != nullptr && source.definition->type == FieldType::Timestamp2;
  if (utc && session_.settings.time_zone_offset != 0) {
    return std::make_unique<LocalTimestamp>(std::move(reference), session_.settings.time_zone_offset);
  }
  return reference;
}

ExpressionPtr Binder::column_of_outer(const ast::Expr& tree, Error unknown) {
  std::optional<Error> before = std::exchange(outer->error_, std::nullopt);
  ExpressionPtr found = outer->column(tree);
  std::optional<Error> failed = std::exchange(outer->error_, std::move(before));
  if (failed) return fail(failed->code == er::kBadField ? std::move(unknown) : *std::move(failed));
  outer->used_by_subquery_ |= found->sources;
  return std::make_unique<OuterReference>(std::move(found));
}

ExpressionPtr Binder::inserted_value(const ast::Expr& tree) {
  for (size_t i = 0; i < insert_table->columns.size(); ++i) {
    if (same_name(insert_table->columns[i].name, tree.text)) {
      return std::make_unique<InsertedValue>(i, type_of_column(insert_table->columns[i]));
    }
  }
  return fail(make_error(er::kBadField, "Unknown column '{}' in '{}'", tree.text, clause_));
}

ExpressionPtr Binder::variable(const ast::Expr& tree) {
  if (tree.kind == ExprKind::UserVariable) return std::make_unique<UserVariable>(session_, lower(tree.text));
  if (tree.kind == ExprKind::AssignVariable) {
    return std::make_unique<AssignVariable>(lower(tree.text), node(*tree.arguments[0]));
  }
  auto value = system_variable_value(session_, tree.text, tree.scope);
  if (!value.ok()) return fail(std::move(value).error());
  return std::make_unique<Constant>(*std::move(value));
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

Result<RowSourcePtr> Binder::rows_of(const ast::Expr& tree) {
  if (const auto found = precomputed_.subqueries.find(&tree); found != precomputed_.subqueries.end())
    return RowSourcePtr(std::make_unique<KnownRows>(found->second));
  const auto correlated = precomputed_.correlated.find(tree.select);
  if (correlated == precomputed_.correlated.end())
    return make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support 'subqueries in {}'",
                      clause_);
  const uint64_t before = std::exchange(used_by_subquery_, 0);
  auto rows = correlated->second->bind(*this, tree.kind == ExprKind::Exists);
  if (rows.ok()) (*rows)->sources = used_by_subquery_;
  used_by_subquery_ |= before;
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
    return known_scalar(tree) ? known_value(tree) : make_scalar_subquery(std::move(rows));
  }
  const ast::Expr& left = *tree.arguments[0];
  const size_t width = left.kind == ExprKind::Row ? left.arguments.size() : 1;
  if (rows->types.size() != width)
    return fail(make_error(er::kOperandColumns, "Operand should contain {} column(s)", width));
  const bool in = tree.kind == ExprKind::InSelect || (tree.kind == ExprKind::AnyOf && tree.op == Op::Equal);
  const auto known = precomputed_.subqueries.find(&tree);
  if (in && width == 1 && known != precomputed_.subqueries.end()) {
    Expressions list;
    for (const Row& row : known->second->rows)
      list.push_back(std::make_unique<Constant>(row[0], known->second->types[0]));
    return make_in(node(left), std::move(list), tree.negated);
  }
  if (width > 1 && !in && !(tree.kind == ExprKind::AllOf && tree.op == Op::NotEqual))
    return fail(make_error(er::kOperandColumns, "Operand should contain 1 column(s)"));
  Expressions operands;
  if (left.kind == ExprKind::Row)
    operands = nodes(left.arguments);
  else
    operands.push_back(node(left));
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
  if (result.rows.size() > 1)
    return fail(make_error(er::kSubqueryNo1Row, "Subquery returns more than 1 row"));
  ValueType type = result.types[0];
  type.nullable = true;
  return std::make_unique<Constant>(result.rows.empty() ? Value::null() : result.rows[0][0], type);
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

ExpressionPtr Binder::aggregate(const ast::Expr& tree, AggregateCall::What what) {
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

ExpressionPtr Binder::function(const ast::Expr& tree) {
  if (const auto waited = precomputed_.waited.find(&tree); waited != precomputed_.waited.end()) {
    return std::make_unique<Constant>(waited->second);
  }
  if (const auto what = aggregate_named(tree.text)) return aggregate(tree, *what);
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
  if (spec == nullptr)
    return fail(make_error(er::kSpDoesNotExist, "FUNCTION {} does not exist", lower(tree.text)));
  const auto count = static_cast<int>(arguments.size());
  if (count < spec->least || (spec->most != FunctionSpec::kAnyNumber && count > spec->most)) {
    constexpr uint16_t kWrongParameterCount = 1582;
    return fail(make_error(kWrongParameterCount,
                           "Incorrect parameter count in the call to native function '{}'", tree.text));
  }
  return make_function(*spec, std::move(arguments));
}

}  // namespace commitd::sql

// What a name stands for: columns of this statement and of the one around it, aliases, variables.
#include <utility>

#include "base/error_codes.h"
#include "base/temporal.h"
#include "base/text_case.h"
#include "sql/ast/select.h"
#include "sql/bind/binder.h"
#include "sql/expression/column_store.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;

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

// The value of an item of the select list, for another one.
class ItemReference : public Expression {
 public:
  explicit ItemReference(const Expression& item) : item_(item) {
    type_ = item.type();
    sources = item.sources;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    return item_.evaluate(evaluation, scratch);
  }
  const ColumnDef* labels() const override { return item_.labels(); }
  ExpressionPtr copy() const override { return std::make_unique<ItemReference>(item_); }

 private:
  const Expression& item_;
};

// DEFAULT(column): of an ENUM or SET column its label.
class DefaultValue : public Constant {
 public:
  DefaultValue(Value value, const ColumnDef& column)
      : Constant(std::move(value), type_of_column(column)), column_(column) {
    type_.nullable = this->value().is_null();
  }
  const ColumnDef* labels() const override { return has_labels(column_.type) ? &column_ : nullptr; }
  ExpressionPtr copy() const override { return std::make_unique<DefaultValue>(*this); }

 private:
  const ColumnDef& column_;
};

// A column of the statement around a subquery.
class OuterReference : public Expression {
 public:
  explicit OuterReference(ExpressionPtr column) : column_(std::move(column)) { type_ = column_->type(); }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    return column_->evaluate(*evaluation.outer, scratch);
  }
  const ColumnDef* labels() const override { return column_->labels(); }
  ExpressionPtr copy() const override {
    ExpressionPtr column = column_->copy();
    return column ? std::make_unique<OuterReference>(std::move(column)) : nullptr;
  }

 private:
  ExpressionPtr column_;
};

}  // namespace

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

// The column of that name that the item shows; nullopt: it is none, or an expression.
std::optional<Scope::Address> Binder::column_of_item(const ast::Expr& item, std::string_view name) {
  if (item.kind != ExprKind::Column && item.kind != ExprKind::Star) return std::nullopt;
  const auto found =
      scope_.find(item.db, item.table, item.kind == ExprKind::Star ? name : item.text, clause_);
  if (found.ok()) return *found;
  if (found.error().code == er::kNonUniqColumn) fail(found.error());
  return std::nullopt;
}

// The item of the select list that a name means. Several columns of that name must be the same one (1052); an
// expression with that alias comes before columns.
ExpressionPtr Binder::named_item(const ast::Expr& tree) {
  // An alias inside an aggregate function of HAVING or ORDER BY would nest them; it then means the column.
  if (items == nullptr || !tree.table.empty() || in_aggregate_) return nullptr;
  std::optional<Scope::Address> column;
  for (const ast::SelectItem& item : *items) {
    const ast::Expr& expression = *item.expression;
    const bool is_column = expression.kind == ExprKind::Column;
    const std::string_view name = item.alias.empty() && is_column ? expression.text : item.alias;
    const bool may_show_it = expression.kind == ExprKind::Star;
    if (!may_show_it && (name.empty() || !same_name(name, tree.text))) continue;
    const auto shown = column_of_item(expression, tree.text);
    if (error_) return null();
    if (shown) {
      const bool is_other = column && (column->source != shown->source || column->column != shown->column);
      if (is_other)
        return fail(make_error(er::kNonUniqColumn, "Column '{}' in {} is ambiguous", tree.text, clause_));
      column = shown;
    } else if (!may_show_it) {
      // Names inside of the item mean what they mean in the select list, where aliases are not seen.
      const auto* hidden = std::exchange(items, nullptr);
      ExpressionPtr named = node(expression);
      items = hidden;
      return named;
    }
  }
  return column ? column_at(*column) : nullptr;
}

ExpressionPtr Binder::column_at(const Scope::Address& address) {
  const SourceColumn& source = scope_.sources[address.source].columns[address.column];
  ExpressionPtr reference =
      std::make_unique<ColumnReference>(address.source, address.column, source.type, source.definition);
  const bool utc = source.definition != nullptr && source.definition->type == FieldType::Timestamp2;
  if (utc && session_.settings.time_zone_offset != 0) {
    return std::make_unique<LocalTimestamp>(std::move(reference), session_.settings.time_zone_offset);
  }
  return reference;
}

ExpressionPtr Binder::column(const ast::Expr& tree) {
  if (insert_table != nullptr && !insert_alias.empty() && tree.table == insert_alias)
    return inserted_value(tree);
  const bool is_alone = &tree == root_;
  if (items_first == ItemsFirst::Everywhere || (items_first == ItemsFirst::Alone && is_alone)) {
    if (ExpressionPtr named = named_item(tree)) return named;
  }
  auto found = scope_.find(tree.db, tree.table, tree.text, clause_);
  if (found.ok()) return column_at(*found);
  const bool is_unknown = found.error().code == er::kBadField;
  if (is_unknown || is_alone) {  // GROUP BY takes the one that is shown of several columns
    if (ExpressionPtr named = named_item(tree)) return named;
  }
  if (is_unknown && outer != nullptr) return column_of_outer(tree, std::move(found).error());
  return fail(std::move(found).error());
}

ExpressionPtr Binder::default_of(const ast::Expr& name) {
  auto found = scope_.find(name.db, name.table, name.text, clause_);
  if (!found.ok() && found.error().code == er::kBadField && outer != nullptr) {
    std::optional<Error> before = std::exchange(outer->error_, std::nullopt);
    ExpressionPtr value = outer->default_of(name);
    std::optional<Error> failed = std::exchange(outer->error_, std::move(before));
    return failed ? fail(*std::move(failed)) : std::move(value);
  }
  if (!found.ok()) return fail(std::move(found).error());
  const Source& source = scope_.sources[found->source];
  const ColumnDef* column = source.columns[found->column].definition;
  const bool has_none = !source.definition || column == nullptr ||
                        (!column->nullable && !column->auto_increment && !column->default_current_timestamp &&
                         (!column->default_value || column->default_value->is_null()));
  if (has_none)
    return fail(make_error(er::kNoDefaultForField, "Field '{}' doesn't have a default value", name.text));
  if (column->default_current_timestamp) {
    Expressions digits;
    digits.push_back(std::make_unique<Constant>(Value::integer(column->decimals)));
    return make_function(*find_function("NOW"), std::move(digits));
  }
  Value value = column->default_value.value_or(Value::null());
  if (value.is_null() && column->auto_increment) value = implicit_default(*column);
  ExpressionPtr constant = std::make_unique<DefaultValue>(std::move(value), *column);
  const bool utc = column->type == FieldType::Timestamp2 && session_.settings.time_zone_offset != 0;
  if (!utc) return constant;
  return std::make_unique<LocalTimestamp>(std::move(constant), session_.settings.time_zone_offset);
}

// The alias of an item in front of the one that is bound.
ExpressionPtr Binder::earlier_item(const ast::Expr& tree) {
  const auto refuse = [&](std::string_view why) {
    return fail(make_error(er::kIllegalReference, "Reference '{}' not supported ({})", tree.text, why));
  };
  for (size_t i = 0; i < earlier_items->items.size(); ++i) {
    const ast::SelectItem& item = earlier_items->items[i];
    if (item.alias.empty() || !same_name(item.alias, tree.text)) continue;
    if (i >= earlier_items->bound.size()) return refuse("forward reference in item list");
    if (has_aggregate(*item.expression)) return refuse("reference to group function");
    return std::make_unique<ItemReference>(*earlier_items->bound[i]);
  }
  return nullptr;
}

// What a name in a subquery of this statement stands for, that is none there.
ExpressionPtr Binder::seen_by_subquery(const ast::Expr& tree) {
  ExpressionPtr found = column(tree);
  if (read_by_subqueries != nullptr && !in_aggregate_) {
    if (const auto address = scope_.find(tree.db, tree.table, tree.text, clause_); address.ok())
      read_by_subqueries->push_back(*address);
  }
  const bool unknown = error_ && error_->code == er::kBadField;
  if (!unknown || earlier_items == nullptr || !tree.table.empty()) return found;
  const std::optional<Error> not_there = std::exchange(error_, std::nullopt);
  if (ExpressionPtr item = earlier_item(tree)) return item;
  error_ = not_there;
  return found;
}

ExpressionPtr Binder::column_of_outer(const ast::Expr& tree, Error unknown) {
  std::optional<Error> before = std::exchange(outer->error_, std::nullopt);
  ExpressionPtr found = outer->seen_by_subquery(tree);
  std::optional<Error> failed = std::exchange(outer->error_, std::move(before));
  if (failed) return fail(failed->code == er::kBadField ? std::move(unknown) : *std::move(failed));
  outer->used_by_subquery_ |= found->sources;
  return make_outer_reference(std::move(found));
}

ExpressionPtr Binder::make_outer_reference(ExpressionPtr expression) {
  return std::make_unique<OuterReference>(std::move(expression));
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
  if (tree.kind == ExprKind::UserVariable)
    return std::make_unique<UserVariable>(session_, lower_case(tree.text));
  if (tree.kind == ExprKind::AssignVariable) {
    return std::make_unique<AssignVariable>(lower_case(tree.text), node(*tree.arguments[0]));
  }
  auto value = system_variable_value(session_, tree.text, tree.scope);
  if (!value.ok()) return fail(std::move(value).error());
  return std::make_unique<Constant>(*std::move(value));
}

}  // namespace commitd::sql

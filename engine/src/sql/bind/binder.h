// From syntax trees to expressions that can be evaluated.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/result.h"
#include "sql/ast/select.h"
#include "sql/bind/scope.h"
#include "sql/expression/aggregate.h"
#include "sql/expression/expression.h"
#include "sql/expression/subquery.h"
#include "sql/session_state.h"

namespace commitd::sql {

// Results of what a statement computes before its expressions are bound: subqueries that do not depend on the
// row, and functions that wait.
struct SubqueryResult {
  std::vector<ValueType> types;
  std::vector<std::shared_ptr<const ColumnDef>> labels;  // nullptr: of no ENUM or SET column
  std::vector<Row> rows;
};
class Binder;

// A subquery that refers to the statement around it, its tables opened.
class CorrelatedSelect {
 public:
  virtual ~CorrelatedSelect() = default;
  // `one_row`: whether there is a row is all that matters.
  virtual Result<RowSourcePtr> bind(Binder& outer, bool one_row) const = 0;
};

struct Precomputed {
  absl::flat_hash_map<const ast::Expr*, std::shared_ptr<SubqueryResult>> subqueries;
  absl::flat_hash_map<const ast::SelectStatement*, std::shared_ptr<CorrelatedSelect>> correlated;
  absl::flat_hash_map<const ast::Expr*, Value> waited;
  bool several_rows_are_null = false;  // IGNORE: of a subquery that is one value; with a warning (1242)
};

// Items of a select list that are bound already: subqueries of those behind them see their aliases.
struct EarlierItems {
  const ast::List<ast::SelectItem>& items;
  std::vector<const Expression*> bound;  // the first of them; null: no single expression
};

struct RowSide;  // bind_rows.cc

class Binder {
 public:
  Binder(SessionState& session, const Scope& scope, std::span<const Value> parameters,
         const Precomputed& precomputed)
      : session_(session), scope_(scope), parameters_(parameters), precomputed_(precomputed) {}

  // `clause` is named in errors about columns: "field list", "where clause" …
  Result<ExpressionPtr> bind(const ast::Expr& tree, std::string_view clause);

  // Aggregate functions are collected here; nullptr where they are not allowed (1111).
  std::vector<AggregateCall>* aggregates = nullptr;
  // Names of select items, for HAVING, GROUP BY and ORDER BY. Where they come before columns of the same
  // name: everywhere in HAVING, and in ORDER BY where the name is all of the expression.
  const ast::List<ast::SelectItem>* items = nullptr;
  enum class ItemsFirst : uint8_t { Nowhere, Alone, Everywhere } items_first = ItemsFirst::Nowhere;
  const EarlierItems* earlier_items = nullptr;
  // The table that ON DUPLICATE KEY UPDATE works on: VALUES(column) and the row alias.
  const TableDef* insert_table = nullptr;
  std::string_view insert_alias;
  // The parameters lie where those of later executions will: they are read when the expression is evaluated.
  bool parameters_stay = false;
  // Of the statement around this subquery: names that are none here are looked up there.
  Binder* outer = nullptr;
  // Gets the columns that subqueries read, outside of aggregate functions.
  std::vector<Scope::Address>* read_by_subqueries = nullptr;

 private:
  ExpressionPtr node(const ast::Expr& tree);
  ExpressionPtr literal(const ast::Expr& tree);
  ExpressionPtr column(const ast::Expr& tree);
  ExpressionPtr column_at(const Scope::Address& address);
  std::optional<Scope::Address> column_of_item(const ast::Expr& item, std::string_view name);
  ExpressionPtr named_item(const ast::Expr& tree);
  ExpressionPtr earlier_item(const ast::Expr& tree);
  ExpressionPtr seen_by_subquery(const ast::Expr& tree);
  ExpressionPtr inserted_value(const ast::Expr& tree);
  ExpressionPtr default_of(const ast::Expr& name);
  ExpressionPtr variable(const ast::Expr& tree);
  ExpressionPtr unary(const ast::Expr& tree);
  ExpressionPtr binary(const ast::Expr& tree);
  bool is_row(const ast::Expr& tree) const;
  RowSide row_side(const ast::Expr& tree);
  ExpressionPtr row_comparison(ast::Op op, const ast::Expr& left, const ast::Expr& right);
  ExpressionPtr row_comparison(ast::Op op, const RowSide& left, const RowSide& right, size_t from);
  ExpressionPtr item_comparison(ast::Op op, const RowSide& left, const RowSide& right, size_t item);
  ExpressionPtr item_of(const RowSide& side, size_t item);
  ExpressionPtr in_list(const ast::Expr& tree);
  ExpressionPtr typed_literal(const ast::Expr& tree);
  ExpressionPtr introduced(const ast::Expr& tree);
  ExpressionPtr cast(const ast::Expr& tree);
  ExpressionPtr null_test(const ast::Expr& tree);
  ExpressionPtr comparison(ast::Op op, ExpressionPtr left, ExpressionPtr right);
  void check_collations(const Expressions& operands, std::string_view operation);  // 1267
  ExpressionPtr subquery(const ast::Expr& tree);
  Result<RowSourcePtr> rows_of(const ast::Expr& tree);
  bool known_scalar(const ast::Expr& tree) const;
  ExpressionPtr known_value(const ast::Expr& tree);
  ExpressionPtr column_of_outer(const ast::Expr& tree, Error unknown);
  ExpressionPtr case_of(const ast::Expr& tree);
  ExpressionPtr function(const ast::Expr& tree);
  Error no_such_function(std::string_view name) const;
  ExpressionPtr aggregate(const ast::Expr& tree, AggregateCall::What what);
  bool belongs_to_outer(const ast::Expr& call) const;
  bool has_groups_around() const;
  ExpressionPtr aggregate_of_outer(const ast::Expr& tree, AggregateCall::What what);
  static ExpressionPtr make_outer_reference(ExpressionPtr expression);
  ExpressionPtr date_arithmetic(const ast::Expr& tree);
  Expressions nodes(const ast::List<ast::Expr*>& trees);
  ExpressionPtr fail(Error error);
  ExpressionPtr null() { return std::make_unique<Constant>(Value::null()); }

  SessionState& session_;
  const Scope& scope_;
  std::span<const Value> parameters_;
  const Precomputed& precomputed_;
  std::string_view clause_;
  const ast::Expr* root_ = nullptr;
  std::optional<Error> error_;
  bool in_aggregate_ = false;
  uint64_t used_by_subquery_ = 0;  // sources that the subquery being bound refers to
  bool aggregate_in_subquery_ = false;
};

// The value of a literal; nullopt when the tree is anything else. What INSERT … VALUES mostly consists of.
std::optional<Value> literal_value(const ast::Expr& tree, std::span<const Value> parameters);

// The value of @@name (1193 when there is none).
Result<Value> system_variable_value(SessionState& session, std::string_view name, ast::VariableScope scope);

// True when there is an aggregate function in the tree.
bool has_aggregate(const ast::Expr& tree);

}  // namespace commitd::sql

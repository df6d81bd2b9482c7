#include <charconv>

#include "base/error_codes.h"
#include "sql/ast/select.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/query/bound_select.h"
#include "sql/query/group_check.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

class SelectBinder {
 public:
  SelectBinder(StatementContext& context, const ast::SelectStatement& select, FromClause from, Binder* outer)
      : context_(context),
        select_(select),
        from_(std::move(from)),
        outer_(outer),
        bound_(std::make_unique<BoundSelect>()),
        earlier_{select.items, {}} {
    bound_->scope = std::move(from_.scope);
    bound_->nests = std::move(from_.nests);
  }

  Result<std::unique_ptr<BoundSelect>> bind() {
    COMMITD_RETURN_IF_ERROR(bind_from());
    COMMITD_RETURN_IF_ERROR(bind_items());
    COMMITD_RETURN_IF_ERROR(bind_groups());
    COMMITD_RETURN_IF_ERROR(bind_order());
    auto limit = row_limit(context_, select_);
    if (!limit.ok()) return std::move(limit).error();
    auto offset = limit_value(context_, select_.offset, 0);
    if (!offset.ok()) return std::move(offset).error();
    bound_->limit = *limit;
    bound_->offset = *offset;
    bound_->distinct = select_.distinct;
    bound_->calc_found_rows = select_.calc_found_rows;
    bound_->keeps_order = select_.straight_join || from_.keeps_order;
    bound_->grouped = !bound_->group_by.empty() || !bound_->aggregates.empty();
    if (bound_->grouped && (context_.session.settings.sql_mode & sql_mode::kOnlyFullGroupBy) != 0)
      COMMITD_RETURN_IF_ERROR(check_groups(select_, bound_->scope, from_, read_by_subqueries_));
    if (select_.lock == ast::RowLock::Update) bound_->mode = txn::ReadMode::LockExclusive;
    if (select_.lock == ast::RowLock::Share) bound_->mode = txn::ReadMode::LockShared;
    if (select_.locked_rows == ast::LockedRows::NoWait) bound_->locked_rows = txn::LockedRows::NoWait;
    if (select_.locked_rows == ast::LockedRows::Skip) bound_->locked_rows = txn::LockedRows::Skip;
    return std::move(bound_);
  }

 private:
  Binder binder() {
    Binder binder = context_.binder(bound_->scope);
    binder.outer = outer_;
    return binder;
  }

  Status bind_into(Binder& with, const ast::Expr* tree, std::string_view clause, ExpressionPtr& into) {
    if (tree == nullptr) return {};
    auto bound = with.bind(*tree, clause);
    if (!bound.ok()) return std::move(bound).error();
    into = *std::move(bound);
    return {};
  }

  ExpressionPtr reference(const Scope::Address& address) const {
    const SourceColumn& column = bound_->scope.sources[address.source].columns[address.column];
    return std::make_unique<ColumnReference>(address.source, address.column, column.type, column.definition);
  }

  ExpressionPtr all_equal(const std::vector<std::pair<Scope::Address, Scope::Address>>& pairs) const {
    ExpressionPtr all;
    for (const auto& [left, right] : pairs) {
      ExpressionPtr equal = make_comparison(ast::Op::Equal, reference(left), reference(right));
      all = all ? make_logic(ast::Op::And, std::move(all), std::move(equal)) : std::move(equal);
    }
    return all;
  }

  Status bind_on(const JoinCondition& condition, ExpressionPtr& on) {
    Scope& scope = bound_->scope;
    scope.first = condition.first;
    scope.behind_last = condition.behind_last;
    Binder with = binder();
    Status bound = bind_into(with, condition.on, "on clause", on);
    scope.first = 0;
    scope.behind_last = SIZE_MAX;
    return bound;
  }

  Status bind_from() {
    for (const JoinNest& nest : bound_->nests) {
      // Columns of the inner side can be NULL, whatever their definition says.
      for (size_t i = nest.first; i <= nest.last; ++i) {
        for (SourceColumn& column : bound_->scope.sources[i].columns) column.type.nullable = true;
      }
    }
    for (const JoinCondition& condition : from_.conditions) {
      ExpressionPtr on = all_equal(condition.equal);
      if (condition.on != nullptr) COMMITD_RETURN_IF_ERROR(bind_on(condition, on));
      bound_->on.push_back({std::move(on), condition.nest});
    }
    Binder with = binder();
    return bind_into(with, select_.where, "where clause", bound_->where);
  }

  Status expand_star(const ast::Expr& star) {
    const Scope& scope = bound_->scope;
    if (scope.sources.empty()) return make_error(er::kNoTablesUsed, "No tables used");
    if (!star.table.empty() && !scope.has_source(star.db, star.table)) {
      return make_error(er::kBadTable, "Unknown table '{}'", star.table);
    }
    if (star.table.empty()) {
      for (const Scope::Address& address : from_.star) COMMITD_RETURN_IF_ERROR(add_column(address));
      return {};
    }
    for (size_t s = 0; s < scope.sources.size(); ++s) {
      if (!Scope::matches(scope.sources[s], star.db, star.table)) continue;
      for (size_t c = 0; c < scope.sources[s].columns.size(); ++c)
        COMMITD_RETURN_IF_ERROR(add_column({s, c}));
    }
    return {};
  }

  // By subqueries that refer to this statement.
  bool items_are_seen() const { return !context_.precomputed.correlated.empty(); }

  Status add_column(const Scope::Address& address) {
    const Source& source = bound_->scope.sources[address.source];
    const std::string name = source.columns[address.column].name;
    ast::Expr tree(ast::ExprKind::Column, std::pmr::get_default_resource());
    tree.text = name;
    tree.table = source.alias;
    tree.db = source.db;
    return add_item(tree, name);
  }

  Status add_item(const ast::Expr& tree, std::string name) {
    Binder with = binder();
    with.aggregates = &bound_->aggregates;
    if (items_are_seen()) with.earlier_items = &earlier_;
    with.read_by_subqueries = &read_by_subqueries_.back();
    ExpressionPtr item;
    COMMITD_RETURN_IF_ERROR(bind_into(with, &tree, "field list", item));
    bound_->columns.push_back(describe_column(*item, bound_->scope, std::move(name)));
    bound_->items.push_back(std::move(item));
    return {};
  }

  Status bind_items() {
    for (const ast::SelectItem& item : select_.items) {
      const ast::Expr& tree = *item.expression;
      read_by_subqueries_.emplace_back();
      if (tree.kind == ast::ExprKind::Star) {
        COMMITD_RETURN_IF_ERROR(expand_star(tree));
        if (items_are_seen()) earlier_.bound.push_back(nullptr);
        continue;
      }
      std::string name(item.alias);
      if (name.empty())
        name = tree.kind == ast::ExprKind::Column   ? tree.text
               : tree.kind == ast::ExprKind::String ? tree.text
                                                    : tree.source;
      COMMITD_RETURN_IF_ERROR(add_item(tree, std::move(name)));
      if (items_are_seen()) earlier_.bound.push_back(bound_->items.back().get());
    }
    return {};
  }

  // The item number of `ORDER BY 2`, or nullopt.
  Result<std::optional<size_t>> position(const ast::Expr& tree, std::string_view clause) {
    if (tree.kind != ast::ExprKind::Integer) return std::optional<size_t>();
    size_t number = 0;
    std::from_chars(tree.text.data(), tree.text.data() + tree.text.size(), number);
    if (number < 1 || number > bound_->items.size())
      return make_error(er::kBadField, "Unknown column '{}' in '{}'", tree.text, clause);
    return std::optional<size_t>(number - 1);
  }

  Status bind_groups() {
    for (const ast::Expr* tree : select_.group_by) {
      auto number = position(*tree, "group statement");
      if (!number.ok()) return std::move(number).error();
      Binder with = binder();
      with.items = &select_.items;
      const ast::Expr* bound_tree = tree;
      if (*number && **number < select_.items.size()) bound_tree = select_.items[**number].expression;
      ExpressionPtr group;
      COMMITD_RETURN_IF_ERROR(bind_into(with, bound_tree, "group statement", group));
      bound_->group_by.push_back(std::move(group));
    }
    if (select_.having == nullptr) return {};
    const ast::List<ast::SelectItem> seen = items_seen_in_having();
    const std::vector<Scope::Address> hidden = hidden_in_having(select_, bound_->scope, from_);
    Scope seen_tables;
    if (!hidden.empty()) {
      seen_tables = bound_->scope;
      for (const Scope::Address& address : hidden)
        seen_tables.sources[address.source].columns[address.column].name.clear();
    }
    Binder with = context_.binder(hidden.empty() ? bound_->scope : seen_tables);
    with.outer = outer_;
    with.aggregates = &bound_->aggregates;
    with.items = &seen;
    with.items_first = Binder::ItemsFirst::Everywhere;
    return bind_into(with, select_.having, "having clause", bound_->having);
  }

  // A column in GROUP BY comes before an alias of the same name.
  ast::List<ast::SelectItem> items_seen_in_having() const {
    const auto is_column = [&](const ast::Expr* group, std::string_view name) {
      return group->kind == ast::ExprKind::Column && same_name(group->text, name) &&
             bound_->scope.find(group->db, group->table, group->text, "group statement").ok();
    };
    ast::List<ast::SelectItem> seen;
    for (const ast::SelectItem& item : select_.items) {
      const bool hidden =
          !item.alias.empty() && std::ranges::any_of(select_.group_by, [&](const ast::Expr* group) {
            return is_column(group, item.alias);
          });
      if (!hidden) seen.push_back(item);
    }
    return seen;
  }

  // ENUM and SET sort by their labels' numbers.
  void order_by_label(BoundOrder& order) {
    if (order.expression) {
      order.expression = number_of_label(std::move(order.expression));
      return;
    }
    const auto* item = dynamic_cast<const ColumnReference*>(bound_->items[order.item].get());
    if (item == nullptr || item->definition() == nullptr) return;
    if (!has_labels(item->definition()->type)) return;
    order.expression = number_of_label(std::make_unique<ColumnReference>(*item));
  }

  Status bind_order() {
    for (const ast::OrderItem& item : select_.order_by) {
      auto number = position(*item.expression, "order clause");
      if (!number.ok()) return std::move(number).error();
      BoundOrder order;
      order.descending = item.descending;
      if (*number) {
        order.item = **number;
      } else {
        Binder with = binder();
        with.aggregates = &bound_->aggregates;
        with.items = &select_.items;
        with.items_first = Binder::ItemsFirst::Alone;
        COMMITD_RETURN_IF_ERROR(bind_into(with, item.expression, "order clause", order.expression));
      }
      order_by_label(order);
      bound_->order_by.push_back(std::move(order));
    }
    return {};
  }

  StatementContext& context_;
  const ast::SelectStatement& select_;
  FromClause from_;
  Binder* outer_;
  std::unique_ptr<BoundSelect> bound_;
  EarlierItems earlier_;
  std::vector<std::vector<Scope::Address>> read_by_subqueries_;  // of each item
};

}  // namespace

Result<std::unique_ptr<BoundSelect>> bind_select(StatementContext& context,
                                                 const ast::SelectStatement& select, FromClause from,
                                                 Binder* outer) {
  return SelectBinder(context, select, std::move(from), outer).bind();
}

Result<uint64_t> row_limit(StatementContext& context, const ast::SelectStatement& select) {
  const bool is_answer = context.answer == &select;
  return limit_value(context, select.limit, is_answer ? context.session.settings.select_limit : UINT64_MAX);
}

Result<uint64_t> limit_value(StatementContext& context, const ast::Expr* tree, uint64_t otherwise) {
  if (tree == nullptr) return otherwise;
  const auto value = literal_value(*tree, context.parameters);
  if (!value)
    return make_error(er::kParse, "You have an error in your SQL syntax; LIMIT takes numbers, not '{}'",
                      tree->source);
  if (value->is_null()) return otherwise;
  if (value->kind() == Value::Kind::Int && value->as_int() < 0)
    return make_error(er::kParse, "LIMIT must not be negative");
  return to_bits(*value);
}

}  // namespace commitd::sql

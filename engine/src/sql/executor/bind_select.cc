#include <charconv>

#include "base/error_codes.h"
#include "sql/executor/bound_select.h"
#include "sql/executor/select.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

class SelectBinder {
 public:
  SelectBinder(StatementContext& context, const ast::SelectStatement& select, Scope scope)
      : context_(context), select_(select), bound_(std::make_unique<BoundSelect>()) {
    bound_->scope = std::move(scope);
  }

  Result<std::unique_ptr<BoundSelect>> bind() {
    COMMITD_RETURN_IF_ERROR(bind_from());
    COMMITD_RETURN_IF_ERROR(bind_items());
    COMMITD_RETURN_IF_ERROR(bind_groups());
    COMMITD_RETURN_IF_ERROR(bind_order());
    auto limit = limit_value(context_, select_.limit, UINT64_MAX);
    if (!limit.ok()) return std::move(limit).error();
    auto offset = limit_value(context_, select_.offset, 0);
    if (!offset.ok()) return std::move(offset).error();
    bound_->limit = *limit;
    bound_->offset = *offset;
    bound_->distinct = select_.distinct;
    bound_->calc_found_rows = select_.calc_found_rows;
    bound_->grouped = !bound_->group_by.empty() || !bound_->aggregates.empty();
    if (select_.lock == ast::RowLock::Update) bound_->mode = txn::ReadMode::LockExclusive;
    if (select_.lock == ast::RowLock::Share) bound_->mode = txn::ReadMode::LockShared;
    return std::move(bound_);
  }

 private:
  Binder binder() { return context_.binder(bound_->scope); }

  Status bind_into(Binder& with, const ast::Expr* tree, std::string_view clause, ExpressionPtr& into) {
    if (tree == nullptr) return {};
    auto bound = with.bind(*tree, clause);
    if (!bound.ok()) return std::move(bound).error();
    into = *std::move(bound);
    return {};
  }

  // USING (c): equal in both tables, of which the left one is the first that has it.
  Result<ExpressionPtr> using_condition(const ast::TableRef& ref, size_t source) {
    ExpressionPtr all;
    for (const std::string_view name : *ref.using_columns) {
      Scope left_scope;
      left_scope.sources.assign(bound_->scope.sources.begin(),
                                bound_->scope.sources.begin() + static_cast<std::ptrdiff_t>(source));
      auto left = left_scope.find({}, {}, name, "from clause");
      if (!left.ok()) return std::move(left).error();
      const Source& right_source = bound_->scope.sources[source];
      auto right = bound_->scope.find({}, right_source.alias, name, "from clause");
      if (!right.ok()) return std::move(right).error();
      auto reference = [&](const Scope::Address& address) {
        const SourceColumn& column = bound_->scope.sources[address.source].columns[address.column];
        return std::make_unique<ColumnReference>(address.source, address.column, column.type,
                                                 column.definition);
      };
      ExpressionPtr equal = make_comparison(ast::Op::Equal, reference(*left), reference(*right));
      all = all ? make_logic(ast::Op::And, std::move(all), std::move(equal)) : std::move(equal);
    }
    return all;
  }

  Status bind_from() {
    for (size_t i = 0; i < select_.from.size(); ++i) {
      const ast::TableRef& ref = select_.from[i];
      bound_->outer.push_back(ref.join == ast::JoinKind::Left);
      Binder with = binder();
      ExpressionPtr on;
      COMMITD_RETURN_IF_ERROR(bind_into(with, ref.on, "on clause", on));
      if (ref.using_columns != nullptr) {
        auto condition = using_condition(ref, i);
        if (!condition.ok()) return std::move(condition).error();
        on = *std::move(condition);
      }
      if (ref.join == ast::JoinKind::Left) {
        // Columns of the inner side can be NULL now, whatever their definition says.
        for (SourceColumn& column : bound_->scope.sources[i].columns) column.type.nullable = true;
      }
      bound_->on.push_back(std::move(on));
    }
    Binder with = binder();
    return bind_into(with, select_.where, "where clause", bound_->where);
  }

  Status expand_star(const ast::Expr& star) {
    const Scope& scope = bound_->scope;
    if (scope.sources.empty()) return make_error(1096, "No tables used");
    if (!star.table.empty() && !scope.has_source(star.db, star.table)) {
      return make_error(er::kBadTable, "Unknown table '{}'", star.table);
    }
    for (size_t s = 0; s < scope.sources.size(); ++s) {
      if (!Scope::matches(scope.sources[s], star.db, star.table)) continue;
      for (const SourceColumn& column : scope.sources[s].columns) {
        if (star.table.empty() && scope.sources[s].merges(column.name)) continue;
        ast::Expr tree(ast::ExprKind::Column, std::pmr::get_default_resource());
        tree.text = column.name;
        tree.table = scope.sources[s].alias;
        tree.db = scope.sources[s].db;
        COMMITD_RETURN_IF_ERROR(add_item(tree, column.name));
      }
    }
    return {};
  }

  Status add_item(const ast::Expr& tree, std::string name) {
    Binder with = binder();
    with.aggregates = &bound_->aggregates;
    ExpressionPtr item;
    COMMITD_RETURN_IF_ERROR(bind_into(with, &tree, "field list", item));
    bound_->columns.push_back(describe_column(*item, bound_->scope, std::move(name)));
    bound_->items.push_back(std::move(item));
    return {};
  }

  Status bind_items() {
    for (const ast::SelectItem& item : select_.items) {
      const ast::Expr& tree = *item.expression;
      if (tree.kind == ast::ExprKind::Star) {
        COMMITD_RETURN_IF_ERROR(expand_star(tree));
        continue;
      }
      std::string name(item.alias);
      if (name.empty())
        name = tree.kind == ast::ExprKind::Column   ? tree.text
               : tree.kind == ast::ExprKind::String ? tree.text
                                                    : tree.source;
      COMMITD_RETURN_IF_ERROR(add_item(tree, std::move(name)));
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
    Binder with = binder();
    with.aggregates = &bound_->aggregates;
    with.items = &select_.items;
    with.aliases_first = true;
    return bind_into(with, select_.having, "having clause", bound_->having);
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
        with.aliases_first = true;
        COMMITD_RETURN_IF_ERROR(bind_into(with, item.expression, "order clause", order.expression));
      }
      bound_->order_by.push_back(std::move(order));
    }
    return {};
  }

  StatementContext& context_;
  const ast::SelectStatement& select_;
  std::unique_ptr<BoundSelect> bound_;
};

}  // namespace

Result<std::unique_ptr<BoundSelect>> bind_select(StatementContext& context,
                                                 const ast::SelectStatement& select, Scope scope) {
  return SelectBinder(context, select, std::move(scope)).bind();
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

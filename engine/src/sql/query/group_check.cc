#include "sql/query/group_check.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error_codes.h"
#include "sql/expression/aggregate.h"
#include "sql/expression/literal.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;
using Column = std::pair<size_t, size_t>;

class GroupCheck {
 public:
  GroupCheck(const ast::SelectStatement& select, const Scope& scope, const FromClause& from)
      : select_(select), scope_(scope) {
    for (const ast::Expr* tree : select.group_by) groups_.push_back(resolved(*tree));
    for (const ast::Expr* group : groups_) {
      if (const auto column = column_of(*group)) determined_.insert(*column);
    }
    if (select.where != nullptr) add_equalities(*select.where);
    for (const JoinCondition& condition : from.conditions) {
      if (condition.nest >= 0) continue;
      if (condition.on != nullptr) add_equalities(*condition.on);
      for (const auto& [l, r] : condition.equal)
        equal_.push_back({Column(l.source, l.column), Column(r.source, r.column)});
    }
    while (grow()) {
    }
  }

  std::vector<Scope::Address> hidden_in_having() const {
    std::vector<Scope::Address> hidden;
    add_hidden(*select_.having, hidden);
    return hidden;
  }

  Status check() const {
    size_t number = 0;
    for (const ast::SelectItem& item : select_.items) {
      ++number;
      if (item.expression->kind == ExprKind::Star) {
        COMMITD_RETURN_IF_ERROR(check_star(*item.expression, number));
      } else if (const ast::Expr* column = offender(*item.expression)) {
        return error(number, "SELECT list", std::string(column->source));
      }
    }
    number = 0;
    for (const ast::OrderItem& item : select_.order_by) {
      ++number;
      if (item.expression->kind == ExprKind::Integer) continue;
      if (const ast::Expr* column = offender(*item.expression, true))
        return error(number, "ORDER BY clause", std::string(column->source));
    }
    return {};
  }

 private:
  // What an item number or an alias in GROUP BY stands for.
  const ast::Expr* resolved(const ast::Expr& tree) const {
    if (tree.kind == ExprKind::Integer) {
      size_t number = 0;
      std::from_chars(tree.text.data(), tree.text.data() + tree.text.size(), number);
      if (number >= 1 && number <= select_.items.size()) return select_.items[number - 1].expression;
    }
    if (tree.kind == ExprKind::Column && !column_of(tree)) {
      if (const ast::Expr* item = aliased(tree)) return item;
    }
    return &tree;
  }
  const ast::Expr* aliased(const ast::Expr& tree) const {
    if (!tree.table.empty()) return nullptr;
    for (const ast::SelectItem& item : select_.items) {
      if (!item.alias.empty() && same_name(item.alias, tree.text)) return item.expression;
      const ast::Expr& selected = *item.expression;  // of several columns of that name
      if (item.alias.empty() && selected.kind == ExprKind::Column && same_name(selected.text, tree.text))
        return item.expression;
    }
    return nullptr;
  }
  std::optional<Column> column_of(const ast::Expr& tree) const {
    if (tree.kind != ExprKind::Column) return std::nullopt;
    const auto found = scope_.find(tree.db, tree.table, tree.text, "");
    return found.ok() ? std::optional<Column>({found->source, found->column}) : std::nullopt;
  }

  void add_equalities(const ast::Expr& tree) {
    if (tree.kind != ExprKind::Binary) return;
    if (tree.op == ast::Op::And) {
      add_equalities(*tree.arguments[0]);
      add_equalities(*tree.arguments[1]);
    } else if (tree.op == ast::Op::Equal) {
      const auto left = column_of(*tree.arguments[0]), right = column_of(*tree.arguments[1]);
      if (left && right) equal_.push_back({*left, *right});
      if (left && is_value(*tree.arguments[1])) determined_.insert(*left);
      if (right && is_value(*tree.arguments[0])) determined_.insert(*right);
    }
  }
  static bool is_value(const ast::Expr& tree) {
    return tree.kind == ExprKind::Parameter || tree.kind == ExprKind::UserVariable ||
           literal_value(tree).has_value();
  }

  // One round of "determines"; false: nothing new.
  bool grow() {
    const size_t before = determined_.size();
    for (const auto& [left, right] : equal_) {
      if (determined_.contains(left)) determined_.insert(right);
      if (determined_.contains(right)) determined_.insert(left);
    }
    for (size_t s = 0; s < scope_.sources.size(); ++s) {
      const Source& source = scope_.sources[s];
      if (source.definition == nullptr) continue;
      for (const IndexDef& index : source.definition->indexes) {
        if (!is_key(*source.definition, index, s)) continue;
        for (size_t c = 0; c < source.columns.size(); ++c) determined_.insert({s, c});
      }
    }
    return determined_.size() > before;
  }
  bool is_key(const TableDef& table, const IndexDef& index, size_t source) const {
    if (!index.unique || index.columns.empty()) return false;
    return std::all_of(index.columns.begin(), index.columns.end(), [&](const IndexColumn& part) {
      return !table.columns[part.column].nullable && part.prefix_length == 0 &&
             determined_.contains({source, part.column});
    });
  }

  // The column in a tree that has no one value per group; nullptr: there is none. `aliases`: names may mean
  // items.
  const ast::Expr* offender(const ast::Expr& tree, bool aliases = false) const {
    if (tree.kind == ExprKind::Function && aggregate_named(tree.text)) return nullptr;
    if (tree.select != nullptr) return nullptr;
    for (const ast::Expr* group : groups_) {
      if (same(*group, tree)) return nullptr;
    }
    if (tree.kind == ExprKind::Column) {
      if (aliases && aliased(tree) != nullptr) return nullptr;
      const auto column = column_of(tree);
      return column && !determined_.contains(*column) ? &tree : nullptr;
    }
    for (const ast::Expr* argument : tree.arguments) {
      if (const ast::Expr* found = offender(*argument, aliases)) return found;
    }
    return nullptr;
  }

  void add_hidden(const ast::Expr& tree, std::vector<Scope::Address>& hidden) const {
    if (tree.kind == ExprKind::Function && aggregate_named(tree.text)) return;
    if (tree.kind == ExprKind::Column && !seen_in_having(tree)) {
      const Column column = *column_of(tree);
      hidden.push_back({column.first, column.second});
    }
    for (const ast::Expr* argument : tree.arguments) add_hidden(*argument, hidden);
  }
  bool seen_in_having(const ast::Expr& column) const {
    if (!column_of(column) || aliased(column) != nullptr) return true;  // binding finds what is unknown
    const auto is_this = [&](const ast::Expr* other) { return same(*other, column); };
    return std::ranges::any_of(groups_, is_this) ||
           std::ranges::any_of(select_.items, [&](const ast::SelectItem& item) {
             return item.expression->kind == ExprKind::Star || is_this(item.expression);
           });
  }

  bool same(const ast::Expr& l, const ast::Expr& r) const {
    if (&l == &r) return true;  // GROUP BY 1: also with a subquery in it
    if (l.kind != r.kind || l.select != nullptr || r.select != nullptr) return false;
    if (l.kind == ExprKind::Column) return column_of(l).has_value() && column_of(l) == column_of(r);
    const bool equal = l.op == r.op && l.negated == r.negated && l.text == r.text &&
                       l.parameter == r.parameter && l.cast == r.cast && l.cast_length == r.cast_length &&
                       l.cast_decimals == r.cast_decimals && l.has_else == r.has_else &&
                       l.has_operand == r.has_operand && l.separator == r.separator;
    return equal && std::equal(l.arguments.begin(), l.arguments.end(), r.arguments.begin(), r.arguments.end(),
                               [&](const ast::Expr* a, const ast::Expr* b) { return same(*a, *b); });
  }

  Status check_star(const ast::Expr& star, size_t number) const {
    for (size_t s = 0; s < scope_.sources.size(); ++s) {
      const Source& source = scope_.sources[s];
      if (!star.table.empty() && !Scope::matches(source, star.db, star.table)) continue;
      for (size_t c = 0; c < source.columns.size(); ++c) {
        if (!determined_.contains({s, c})) return error(number, "SELECT list", source.columns[c].name);
      }
    }
    return {};
  }

  Error error(size_t number, std::string_view clause, const std::string& column) const {
    if (groups_.empty()) {
      return make_error(
          er::kMixOfGroupFuncAndFields,
          "In aggregated query without GROUP BY, expression #{} of {} contains nonaggregated column "
          "'{}'; this is incompatible with sql_mode=only_full_group_by",
          number, clause, column);
    }
    return make_error(
        er::kWrongFieldWithGroup,
        "Expression #{} of {} is not in GROUP BY clause and contains nonaggregated column '{}' which "
        "is not functionally dependent on columns in GROUP BY clause; this is incompatible with "
        "sql_mode=only_full_group_by",
        number, clause, column);
  }

  const ast::SelectStatement& select_;
  const Scope& scope_;
  std::vector<const ast::Expr*> groups_;
  std::set<Column> determined_;
  std::vector<std::pair<Column, Column>> equal_;
};

}  // namespace

Status check_groups(const ast::SelectStatement& select, const Scope& scope, const FromClause& from) {
  return GroupCheck(select, scope, from).check();
}

std::vector<Scope::Address> hidden_in_having(const ast::SelectStatement& select, const Scope& scope,
                                             const FromClause& from) {
  return GroupCheck(select, scope, from).hidden_in_having();
}

}  // namespace commitd::sql

#include "sql/query/read_columns.h"

#include <algorithm>

namespace commitd::sql {
namespace {

class ColumnNames {
 public:
  explicit ColumnNames(const Source& source) : source_(source) {}

  // False: any column may be read.
  bool add(const ast::Expr* tree) {
    if (tree == nullptr) return true;
    if (tree->kind == ast::ExprKind::Star || tree->select != nullptr) return false;
    if (tree->kind == ast::ExprKind::Column) mark(tree->text);
    if (tree->order != nullptr && !add(*tree->order)) return false;
    return std::all_of(tree->arguments.begin(), tree->arguments.end(), [&](const ast::Expr* argument) {
      return is_star_of_count(*tree, *argument) || add(argument);
    });
  }
  bool add(const ast::List<ast::OrderItem>& items) {
    return std::all_of(items.begin(), items.end(),
                       [&](const ast::OrderItem& item) { return add(item.expression); });
  }
  bool add(const ast::List<ast::TableRef>& from) {
    return std::all_of(from.begin(), from.end(), [&](const ast::TableRef& ref) {
      return !ref.natural && ref.using_columns == nullptr && ref.nested == nullptr && add(ref.on);
    });
  }

  std::vector<bool> take() { return std::move(read_); }

 private:
  static bool is_star_of_count(const ast::Expr& call, const ast::Expr& argument) {
    return call.kind == ast::ExprKind::Function && argument.kind == ast::ExprKind::Star;
  }

  void mark(std::string_view name) {
    for (size_t i = 0; i < source_.columns.size(); ++i) {
      if (!same_name(source_.columns[i].name, name)) continue;
      if (read_.size() <= i) read_.resize(i + 1);
      read_[i] = true;
    }
  }

  const Source& source_;
  std::vector<bool> read_;
};

}  // namespace

std::optional<std::vector<bool>> columns_named(const ast::SelectStatement& select, const Source& source) {
  ColumnNames names(source);
  const bool all_known =
      std::all_of(select.items.begin(), select.items.end(),
                  [&](const ast::SelectItem& item) { return names.add(item.expression); }) &&
      names.add(select.from) && names.add(select.where) &&
      std::all_of(select.group_by.begin(), select.group_by.end(),
                  [&](const ast::Expr* tree) { return names.add(tree); }) &&
      names.add(select.having) && names.add(select.order_by);
  if (!all_known) return std::nullopt;
  return names.take();
}

}  // namespace commitd::sql

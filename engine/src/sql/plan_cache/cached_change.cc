#include "sql/plan_cache/cached_change.h"

#include <algorithm>

#include "sql/ast/changes.h"
#include "sql/plan_cache/cached_shapes.h"
#include "sql/query/precompute.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;
using ast::Op;

bool is_calculation(const ast::Expr& tree) {
  return tree.kind == ExprKind::Binary &&
         (tree.op == Op::Add || tree.op == Op::Subtract || tree.op == Op::Multiply) &&
         std::all_of(tree.arguments.begin(), tree.arguments.end(), is_operand);
}

bool is_assignment(const ast::Assignment& assignment) {
  const ast::Expr& value = *assignment.value;
  return value.kind == ExprKind::Default || is_operand(&value) || is_calculation(value);
}

// Where the rows are found by conditions, in no order.
template <class Statement>
bool finds_rows_simply(const Statement& statement) {
  return is_one_table(statement.from) && statement.order_by.empty() &&
         (statement.where == nullptr || is_condition(*statement.where));
}

// Its values are bound anew each time.
bool has_plain_values(const ast::InsertStatement& insert) {
  return insert.select == nullptr && insert.on_duplicate.empty() &&
         std::all_of(insert.rows.begin(), insert.rows.end(), [](const ast::List<ast::Expr*>* row) {
           return std::none_of(row->begin(), row->end(), needs_precompute);
         });
}

// No value is part of the plan.
class CachedInsert : public CachedChange {
 public:
  bool take_parameters(std::span<const Value> parameters) override {
    taken_ = parameters;
    return true;
  }
  std::span<const Value> parameters() const override { return taken_; }

 private:
  std::span<const Value> taken_;  // while the statement runs
};

class CachedFindAndChange : public CachedChange {
 public:
  explicit CachedFindAndChange(const ast::List<ast::Assignment>& assignments)
      : CachedChange(uses_in(assignments)) {}
  CachedFindAndChange() = default;

 private:
  static std::vector<Use> uses_in(const ast::List<ast::Assignment>& assignments) {
    std::vector<Use> uses;
    const auto note = [&uses](const ast::Expr& tree, Use use) {
      if (tree.kind != ExprKind::Parameter) return;
      if (uses.size() <= tree.parameter) uses.resize(tree.parameter + 1, Use::Compared);
      uses[tree.parameter] = use;
    };
    for (const ast::Assignment& assignment : assignments) {
      note(*assignment.value, Use::Any);
      for (const ast::Expr* operand : assignment.value->arguments) note(*operand, Use::Calculated);
    }
    return uses;
  }
};

}  // namespace

std::unique_ptr<CachedChange> CachedChange::of(const ast::Statement& statement) {
  switch (statement.kind) {
    case ast::StatementKind::Insert:
      if (has_plain_values(ast::as<ast::InsertStatement>(statement))) return std::make_unique<CachedInsert>();
      return nullptr;
    case ast::StatementKind::Update: {
      const auto& update = ast::as<ast::UpdateStatement>(statement);
      const bool simple = finds_rows_simply(update) &&
                          std::all_of(update.assignments.begin(), update.assignments.end(), is_assignment);
      return simple ? std::make_unique<CachedFindAndChange>(update.assignments) : nullptr;
    }
    case ast::StatementKind::Delete: {
      const auto& erase = ast::as<ast::DeleteStatement>(statement);
      const bool simple = erase.targets.empty() && finds_rows_simply(erase);
      return simple ? std::make_unique<CachedFindAndChange>() : nullptr;
    }
    default:
      return nullptr;
  }
}

void CachedChange::keep(const SessionState& session, std::unique_ptr<BoundChange> bound) {
  bound_ = std::move(bound);
  keep_basis(session, bound_->scope.sources[0]);
}

void CachedChange::shrink() {
  constexpr size_t kMost = 4096;
  if (!lasts()) bound_.reset();
  if (size_of_parameters() > kMost) clear_texts();
}

}  // namespace commitd::sql

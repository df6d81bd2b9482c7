#include "sql/change/joined_rows.h"

#include "base/error_codes.h"
#include "sql/change/changed_rows.h"
#include "sql/federated/remote_rows.h"
#include "sql/query/from_clause.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

// A group function has no group here.
Status refuse_aggregate(const ast::Expr* tree) {
  if (tree != nullptr && has_aggregate(*tree))
    return make_error(er::kInvalidGroupFuncUse, "Invalid use of group function");
  return {};
}

}  // namespace

Task<Result<BoundJoin>> bind_join(StatementContext& context, const ast::List<ast::TableRef>& from,
                                  const ast::List<ast::Expr*>& values, const ast::Expr* where) {
  // The values and the condition, as a SELECT of the same tables has them.
  ast::SelectStatement select(std::pmr::get_default_resource());
  select.from = from;
  select.where = const_cast<ast::Expr*>(where);
  for (ast::Expr* value : values) {
    COMMITD_CO_RETURN_IF_ERROR(refuse_aggregate(value));
    if (value->kind != ast::ExprKind::Default) select.items.push_back({value, {}});
  }
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute_all(context, select));
  auto opened = co_await open_from(context, select.from);
  if (!opened.ok()) co_return std::move(opened).error();
  auto bound = bind_select(context, select, *std::move(opened));
  if (!bound.ok()) co_return std::move(bound).error();
  BoundJoin join;
  join.bound = *std::move(bound);
  size_t item = 0;
  for (const ast::Expr* value : values) {
    const bool is_default = value->kind == ast::ExprKind::Default;
    join.values.push_back(is_default ? nullptr : std::move(join.bound->items[item++]));
  }
  co_return join;
}

Status require_target(StatementContext& context, const BoundJoin& join, size_t source, Privileges needed,
                      std::string_view command) {
  const Source& target = join.bound->scope.sources[source];
  if (target.rows) {
    return make_error(er::kNonUpdatableTable, "The target table {} of the {} is not updatable", target.alias,
                      command);
  }
  COMMITD_RETURN_IF_ERROR(context.session.require_on_table(target.db, target.table, needed, command));
  COMMITD_RETURN_IF_ERROR(context.session.table_locks.check(target.db, target.table, true));
  COMMITD_RETURN_IF_ERROR(require_writable(*target.definition));
  return context.changed_kind.add(*target.definition);
}

Task<Status> read_joined(StatementContext& context, const BoundJoin& join, Evaluation& evaluation,
                         RowConsumer& consumer, std::vector<txn::FoundRow>& found) {
  const BoundSelect& select = *join.bound;
  JoinPlan plan =
      plan_join(select.scope, select.nests, select.on, select.where.get(), txn::ReadMode::LockExclusive);
  plan.most_rows = context.session.settings.most_rows_examined;
  COMMITD_CO_RETURN_IF_ERROR(check_safe_update(context.session, plan));
  co_return co_await read_rows(context, plan, evaluation, consumer, &found);
}

}  // namespace commitd::sql

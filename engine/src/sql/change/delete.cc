#include <algorithm>

#include "base/error_codes.h"
#include "sql/ast/changes.h"
#include "sql/change/changed_rows.h"
#include "sql/change/dml.h"
#include "sql/change/joined_rows.h"
#include "sql/change/row_rules.h"
#include "sql/plan_cache/cached_change.h"
#include "sql/query/select.h"
#include "sql/row_memory.h"

namespace commitd::sql {
namespace {

Task<Status> erase_rows(StatementContext& context, const TablePtr& table,
                        const std::vector<txn::FoundRow>& rows) {
  txn::Transaction& transaction = context.transaction_for(*table);
  for (const txn::FoundRow& row : rows) {
    COMMITD_CO_RETURN_IF_ERROR(co_await take_turn(context));
    COMMITD_CO_RETURN_IF_ERROR(co_await transaction.erase(table, row));
    context.session.status.add(StatusVariable::HandlerDelete);
  }
  co_return Status();
}

struct BoundDelete : BoundChange {
  PlannedChange rows;
};

Task<Status> bind_delete(StatementContext& context, const ast::DeleteStatement& statement,
                         const RowSelection& selection, ChangeBinding<BoundDelete>& binding) {
  auto bound = std::make_unique<BoundDelete>();
  auto source = co_await open_table(context, statement.from.front(), privilege::kDelete, "DELETE");
  if (!source.ok()) co_return std::move(source).error();
  bound->scope.sources.push_back(*std::move(source));
  auto rows = co_await plan_change(context, bound->scope, selection);
  if (!rows.ok()) co_return std::move(rows).error();
  bound->rows = *std::move(rows);
  binding.set(std::move(bound));
  co_return Status();
}

Task<Result<OkInfo>> delete_from_table(StatementContext& context, const ast::DeleteStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(check_can_change(context.session));
  const RowSelection selection{&statement.from.front(), statement.where, &statement.order_by,
                               statement.limit};
  ChangeBinding<BoundDelete> bound(context);
  auto kept = co_await bound.enter_kept(privilege::kDelete);
  if (!kept.ok()) co_return std::move(kept).error();
  if (!*kept) COMMITD_CO_RETURN_IF_ERROR(co_await bind_delete(context, statement, selection, bound));
  auto rows = co_await rows_to_change(context, bound->scope, selection, bound->rows);
  if (!rows.ok()) co_return std::move(rows).error();
  COMMITD_CO_RETURN_IF_ERROR(co_await erase_rows(context, bound->scope.sources[0].definition, *rows));
  OkInfo ok;
  ok.affected_rows = rows->size();
  co_return ok;
}

class JoinDeleter : public RowConsumer {
 public:
  JoinDeleter(StatementContext& context, const ast::DeleteStatement& statement)
      : context_(context), statement_(statement) {}

  Task<Result<OkInfo>> run() {
    COMMITD_CO_RETURN_IF_ERROR(check_can_change(context_.session));
    const ast::List<ast::Expr*> no_values;
    auto join = co_await bind_join(context_, statement_.from, no_values, statement_.where);
    if (!join.ok()) co_return std::move(join).error();
    const BoundJoin bound = *std::move(join);
    for (const ast::TableName& name : statement_.targets) COMMITD_CO_RETURN_IF_ERROR(add_target(bound, name));
    Evaluation evaluation = context_.evaluation();
    COMMITD_CO_RETURN_IF_ERROR(co_await read_joined(context_, bound, evaluation, *this, found_));
    OkInfo ok;
    for (const Target& target : targets_) {
      const TablePtr& table = bound.bound->scope.sources[target.rows.source()].definition;
      COMMITD_CO_RETURN_IF_ERROR(co_await erase_rows(context_, table, target.found));
      ok.affected_rows += target.found.size();
    }
    co_return ok;
  }

  Result<bool> consume(Evaluation& evaluation, txn::FoundRow*) override {
    for (Target& target : targets_) {
      if (!target.rows.is_new(evaluation, found_)) continue;
      const txn::FoundRow& row = found_[target.rows.source()];
      if (!context_.memory.add(sizeof(row) + memory_of(row.values) + row.image.size()))
        return out_of_row_memory();
      target.found.push_back(row);
    }
    return true;
  }

 private:
  struct Target {
    JoinedRows rows;
    std::vector<txn::FoundRow> found;
  };

  // A name with a database is that of a table, never an alias; one without is of the current database.
  bool is_target(const Source& source, const ast::TableName& name) const {
    if (source.alias != name.name) return false;
    const bool is_aliased = source.alias != source.table;
    if (!name.db.empty()) return !is_aliased && source.db == name.db;
    return is_aliased || source.db == context_.session.database;
  }

  Status add_target(const BoundJoin& join, const ast::TableName& name) {
    if (name.db.empty() && context_.session.database.empty())
      return make_error(er::kNoDb, "No database selected");
    const std::vector<Source>& sources = join.bound->scope.sources;
    const auto source = std::find_if(sources.begin(), sources.end(),
                                     [&](const Source& candidate) { return is_target(candidate, name); });
    if (source == sources.end())
      return make_error(er::kUnknownTable, "Unknown table '{}' in MULTI DELETE", name.name);
    const auto number = static_cast<size_t>(source - sources.begin());
    for (const Target& other : targets_) {
      if (other.rows.source() == number)
        return make_error(er::kNonUniqTable, "Not unique table/alias: '{}'", name.name);
    }
    COMMITD_RETURN_IF_ERROR(require_target(context_, join, number, privilege::kDelete, "DELETE"));
    targets_.push_back({JoinedRows(number, seen_), {}});
    return {};
  }

  StatementContext& context_;
  const ast::DeleteStatement& statement_;
  const std::shared_ptr<JoinedRows::Seen> seen_ = std::make_shared<JoinedRows::Seen>();
  std::vector<Target> targets_;
  std::vector<txn::FoundRow> found_;
};

Task<Result<OkInfo>> delete_from_join(StatementContext& context, const ast::DeleteStatement& statement) {
  JoinDeleter deleter(context, statement);
  co_return co_await deleter.run();
}

}  // namespace

Task<Result<OkInfo>> execute_delete(StatementContext& context, const ast::DeleteStatement& statement) {
  context.strict = context.session.settings.strict() && !statement.ignore;
  context.precomputed.several_rows_are_null = statement.ignore;
  if (statement.targets.empty()) return delete_from_table(context, statement);
  return delete_from_join(context, statement);
}

}  // namespace commitd::sql

#include <algorithm>

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include "base/error_codes.h"
#include "sql/ast/changes.h"
#include "sql/change/changed_rows.h"
#include "sql/change/dml.h"
#include "sql/change/joined_rows.h"
#include "sql/change/row_update.h"
#include "sql/plan_cache/cached_change.h"
#include "sql/query/precompute.h"
#include "sql/query/select.h"
#include "sql/row_memory.h"

namespace commitd::sql {
namespace {

OkInfo answer(const SessionState& session, uint64_t matched, uint64_t changed) {
  OkInfo ok;
  ok.affected_rows = session.found_rows_flag ? matched : changed;
  ok.info = absl::StrCat("Rows matched: ", matched, "  Changed: ", changed,
                         "  Warnings: ", session.diagnostics.count());
  return ok;
}

struct BoundUpdate : BoundChange {
  RowAssignments assignments;
  PlannedChange rows;
};

class Updater {
 public:
  Updater(StatementContext& context, const ast::UpdateStatement& statement)
      : context_(context), session_(context.session), statement_(statement), bound_(context) {}

  Task<Result<OkInfo>> run() {
    COMMITD_CO_RETURN_IF_ERROR(check_can_change(session_));
    auto kept = co_await bound_.enter_kept(privilege::kUpdate);
    if (!kept.ok()) co_return std::move(kept).error();
    if (!*kept) COMMITD_CO_RETURN_IF_ERROR(co_await bind());
    auto rows = co_await rows_to_change(context_, bound_->scope, selection(), bound_->rows);
    if (!rows.ok()) co_return std::move(rows).error();
    RowUpdate update(context_, bound_->assignments, statement_.ignore);
    for (const txn::FoundRow& row : *rows) {
      COMMITD_CO_RETURN_IF_ERROR(co_await take_turn(context_));
      Row changed = row.values;
      Evaluation evaluation = context_.evaluation();
      evaluation.rows.assign(1, changed.data());
      COMMITD_CO_RETURN_IF_ERROR(update.assign(evaluation, 0, changed));
      COMMITD_CO_RETURN_IF_ERROR(co_await update.store(row, changed));
      update.next_row();
    }
    co_return answer(session_, rows->size(), update.changed());
  }

 private:
  RowSelection selection() const {
    return {&statement_.from.front(), statement_.where, &statement_.order_by, statement_.limit, true};
  }

  Task<Status> bind() {
    auto bound = std::make_unique<BoundUpdate>();
    auto source = co_await open_table(context_, statement_.from.front(), privilege::kUpdate, "UPDATE");
    if (!source.ok()) co_return std::move(source).error();
    COMMITD_CO_RETURN_IF_ERROR(bound->assignments.open(session_, source->definition));
    bound->scope.sources.push_back(*std::move(source));
    COMMITD_CO_RETURN_IF_ERROR(co_await bind_assignments(*bound));
    auto rows = co_await plan_change(context_, bound->scope, selection());
    if (!rows.ok()) co_return std::move(rows).error();
    bound->rows = *std::move(rows);
    bound_.set(std::move(bound));
    co_return Status();
  }

  Task<Status> bind_assignments(BoundUpdate& bound) {
    Binder binder = context_.binder(bound.scope);
    for (const ast::Assignment& assignment : statement_.assignments) {
      COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context_, assignment.value));
      const ast::Expr& name = *assignment.column;
      auto column = bound.scope.find(name.db, name.table, name.text, "field list");
      if (!column.ok()) co_return std::move(column).error();
      ExpressionPtr value;
      if (assignment.value->kind != ast::ExprKind::Default) {
        auto expression = binder.bind(*assignment.value, "field list");
        if (!expression.ok()) co_return std::move(expression).error();
        value = *std::move(expression);
      }
      bound.assignments.add(column->column, std::move(value));
    }
    co_return Status();
  }

  StatementContext& context_;
  SessionState& session_;
  const ast::UpdateStatement& statement_;
  ChangeBinding<BoundUpdate> bound_;
};

// UPDATE of a join. Each row of a table is changed once, with the first joined row that it is part of; once
// for each of the names under which the table is changed, in the order of the assignments.
class JoinUpdater : public RowConsumer {
 public:
  JoinUpdater(StatementContext& context, const ast::UpdateStatement& statement)
      : context_(context), session_(context.session), statement_(statement) {}

  Task<Result<OkInfo>> run() {
    COMMITD_CO_RETURN_IF_ERROR(check_can_change(session_));
    if (!statement_.order_by.empty()) co_return wrong_usage("ORDER BY");
    if (statement_.limit != nullptr) co_return wrong_usage("LIMIT");
    ast::List<ast::Expr*> values;
    for (const ast::Assignment& assignment : statement_.assignments) values.push_back(assignment.value);
    auto join = co_await bind_join(context_, statement_.from, values, statement_.where);
    if (!join.ok()) co_return std::move(join).error();
    join_ = *std::move(join);
    COMMITD_CO_RETURN_IF_ERROR(bind_assignments());
    Evaluation evaluation = context_.evaluation();
    COMMITD_CO_RETURN_IF_ERROR(co_await read_joined(context_, join_, evaluation, *this, found_));
    uint64_t matched = 0, changed = 0;
    for (Target& target : targets_) {
      for (Change& change : target.changes) {
        COMMITD_CO_RETURN_IF_ERROR(co_await take_turn(context_));
        COMMITD_CO_RETURN_IF_ERROR(co_await store(target, change));
      }
      matched += target.changes.size();
      changed += target.update->changed();
    }
    co_return answer(session_, matched, changed);
  }

  Result<bool> consume(Evaluation& evaluation, txn::FoundRow*) override {
    for (Target& target : targets_) {
      if (!target.rows.is_new(evaluation, found_)) continue;
      Change change{found_[target.rows.source()], {}};
      change.row = change.old_row.values;
      COMMITD_RETURN_IF_ERROR(target.update->assign(evaluation, target.rows.source(), change.row));
      target.update->next_row();
      if (!context_.memory.add(sizeof(Change) + 2 * memory_of(change.row) + change.old_row.image.size()))
        return out_of_row_memory();
      target.changes.push_back(std::move(change));
    }
    return true;
  }

 private:
  struct Change {
    txn::FoundRow old_row;
    Row row;
  };
  struct Target {
    JoinedRows rows;
    std::unique_ptr<RowAssignments> assignments;
    std::unique_ptr<RowUpdate> update;
    std::vector<Change> changes;
    bool changed_elsewhere = false;  // its table is another target's, too
  };

  // Under another name of its table a row may have been changed before: only what is assigned here is.
  Task<Status> store(Target& target, Change& change) {
    if (!target.changed_elsewhere) co_return co_await target.update->store(change.old_row, change.row);
    const auto before = stored_.find(change.old_row.clustered_key);
    if (before != stored_.end()) {
      Row row = before->second.values;
      for (const auto& assignment : target.assignments->all())
        row[assignment.column] = std::move(change.row[assignment.column]);
      change.row = std::move(row);
      change.old_row = before->second;
    }
    const uint64_t changed = target.update->changed();
    COMMITD_CO_RETURN_IF_ERROR(co_await target.update->store(change.old_row, change.row));
    if (target.update->changed() == changed) co_return Status();
    if (!context_.memory.add(sizeof(Change) + memory_of(change.row) + change.old_row.image.size()))
      co_return out_of_row_memory();
    txn::FoundRow now = std::move(change.old_row);
    now.values = std::move(change.row);
    now.image.clear();
    encode_row_image(*target.assignments->table(), now.values, now.image);
    stored_[now.clustered_key] = std::move(now);
    co_return Status();
  }

  static Error wrong_usage(std::string_view clause) {
    return make_error(er::kWrongUsage, "Incorrect usage of UPDATE and {}", clause);
  }

  Status bind_assignments() {
    for (size_t i = 0; i < statement_.assignments.size(); ++i) {
      const ast::Expr& name = *statement_.assignments[i].column;
      auto column = join_.bound->scope.find(name.db, name.table, name.text, "field list");
      if (!column.ok()) return std::move(column).error();
      auto target = target_of(column->source);
      if (!target.ok()) return std::move(target).error();
      (*target)->assignments->add(column->column, std::move(join_.values[i]));
    }
    return check_names();
  }

  // A row is known by its primary key, which must stay while it is looked for under another name.
  Status check_names() {
    const std::vector<Source>& sources = join_.bound->scope.sources;
    for (Target& target : targets_) {
      const Source& source = sources[target.rows.source()];
      const auto other = std::find_if(targets_.begin(), targets_.end(), [&](const Target& candidate) {
        return &candidate != &target &&
               sources[candidate.rows.source()].definition->id == source.definition->id;
      });
      if (other == targets_.end()) continue;
      target.changed_elsewhere = true;
      for (const auto& part : source.definition->clustered().columns) {
        if (!target.assignments->has(part.column)) continue;
        return make_error(
            er::kMultiUpdateKeyConflict,
            "Primary key/partition key update is not allowed since the table is updated both as "
            "'{}' and '{}'.",
            source.alias, sources[other->rows.source()].alias);
      }
    }
    return {};
  }

  Result<Target*> target_of(size_t source) {
    for (Target& target : targets_) {
      if (target.rows.source() == source) return &target;
    }
    COMMITD_RETURN_IF_ERROR(require_target(context_, join_, source, privilege::kUpdate, "UPDATE"));
    auto assignments = std::make_unique<RowAssignments>();
    COMMITD_RETURN_IF_ERROR(assignments->open(session_, join_.bound->scope.sources[source].definition));
    auto update = std::make_unique<RowUpdate>(context_, *assignments, statement_.ignore);
    targets_.push_back({JoinedRows(source), std::move(assignments), std::move(update), {}});
    return &targets_.back();
  }

  StatementContext& context_;
  SessionState& session_;
  const ast::UpdateStatement& statement_;
  BoundJoin join_;
  std::vector<Target> targets_;
  std::vector<txn::FoundRow> found_;
  absl::flat_hash_map<std::string, txn::FoundRow> stored_;  // by key: rows of tables with several names
};

Task<Result<OkInfo>> update_join(StatementContext& context, const ast::UpdateStatement& statement) {
  JoinUpdater updater(context, statement);
  co_return co_await updater.run();
}

Task<Result<OkInfo>> update_table(StatementContext& context, const ast::UpdateStatement& statement) {
  Updater updater(context, statement);
  co_return co_await updater.run();
}

}  // namespace

Task<Result<OkInfo>> execute_update(StatementContext& context, const ast::UpdateStatement& statement) {
  context.strict = context.session.settings.strict() && !statement.ignore;
  context.precomputed.several_rows_are_null = statement.ignore;
  const ast::TableRef& first = statement.from.front();
  const bool join = statement.from.size() > 1 || first.derived != nullptr || first.nested != nullptr;
  if (join) return update_join(context, statement);
  return update_table(context, statement);
}

}  // namespace commitd::sql

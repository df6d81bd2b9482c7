#include "sql/plan_cache/cached_plan.h"

#include "observe/metrics.h"
#include "sql/plan_cache/cached_change.h"
#include "sql/plan_cache/cached_select.h"
#include "sql/query/select.h"
#include "storage/table_engines.h"

namespace commitd::sql {

std::unique_ptr<CachedPlan> CachedPlan::of(const ast::Statement& statement) {
  if (statement.kind == ast::StatementKind::Select) return CachedSelect::of(statement);
  return CachedChange::of(statement);
}

// Compared: kinds whose types say nothing else that a comparison goes by. Calculated: the digits of a decimal
// are part of the result's type.
bool CachedPlan::is_usable(size_t number, const Value& value) const {
  using Kind = Value::Kind;
  const Use use = use_of(number);
  if (use == Use::Any) return true;
  switch (value.kind()) {
    case Kind::Int:
    case Kind::UInt:
    case Kind::Double:
      return true;
    case Kind::Decimal:
    case Kind::String:
      return use == Use::Compared;
    default:
      return false;
  }
}

bool CachedPlan::same_kind(size_t number, const Value& value) const {
  const Value& before = parameters_[number];
  return use_of(number) == Use::Any ||
         (before.kind() == value.kind() && before.is_binary() == value.is_binary());
}

bool CachedPlan::take_parameters(std::span<const Value> parameters) {
  bool same = parameters.size() == parameters_.size();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!is_usable(i, parameters[i])) return false;
    same = same && same_kind(i, parameters[i]);
  }
  if (!same) basis_.lasts = false;
  parameters_.assign(parameters.begin(), parameters.end());
  return true;
}

void CachedPlan::keep_basis(const SessionState& session, const Source& source) {
  const SessionSettings& settings = session.settings;
  // Rows of virtual tables are made anew each time, others come from another server; those in memory may have
  // to be emptied first.
  const auto is_ordinary = [](const storage::TableEngine& engine) {
    return !engine.in_memory && !engine.remote;
  };
  table_ = source.definition;
  lock_key_ = txn::table_lock_key(table_->db, table_->name);
  basis_ = {session.record_version,
            settings.sql_mode,
            settings.time_zone_offset,
            settings.connection_collation,
            settings.client_collation,
            session.database,
            !source.rows && is_ordinary(storage::engine_of(*source.definition))};
}

bool CachedPlan::holds(const SessionState& session) const {
  const SessionSettings& settings = session.settings;
  return basis_.lasts && session.server.accounts != nullptr &&
         basis_.accounts == session.server.accounts->version() && basis_.sql_mode == settings.sql_mode &&
         basis_.time_zone_offset == settings.time_zone_offset &&
         basis_.connection_collation == settings.connection_collation &&
         basis_.client_collation == settings.client_collation && basis_.database == session.database;
}

bool CachedPlan::has_present_table(const SessionState& session) const {
  return session.server.catalog->find_table(table_->db, table_->name) == table_;
}

void CachedPlan::count_reuse() {
  static auto& reused =
      observe::counter("commitd_plans_reused_total", "Executions of statements whose plan had been kept.");
  reused.add();
}

size_t CachedPlan::size_of_parameters() const {
  size_t size = 0;
  for (const Value& value : parameters_) size += value.as_string().capacity();
  return size;
}

void CachedPlan::clear_texts() {
  for (Value& value : parameters_) {
    if (value.kind() == Value::Kind::String) value = Value::string({}, value.is_binary());
  }
}

Task<Result<bool>> enter_kept_table(StatementContext& context, const CachedPlan* kept, Privileges needed) {
  if (kept == nullptr || !kept->holds(context.session)) co_return false;
  const TableDef& table = kept->table();
  const bool locked = !context.session.table_locks.tables_locked() && context.lock_now(kept->lock_key());
  if (!locked) COMMITD_CO_RETURN_IF_ERROR(co_await enter_table(context, table.db, table.name, needed));
  if (!kept->holds(context.session) || !kept->has_present_table(context.session)) co_return false;
  CachedPlan::count_reuse();
  co_return true;
}

}  // namespace commitd::sql

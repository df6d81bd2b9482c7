#include "sql/query/select.h"

#include <algorithm>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/change/rows_in_memory.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/federated/remote_rows.h"
#include "sql/information_schema/virtual_table.h"
#include "sql/plan_cache/cached_select.h"
#include "sql/plan_cache/point_select.h"
#include "sql/query/bound_select.h"
#include "sql/query/from_clause.h"
#include "sql/query/precompute.h"
#include "sql/query/read_columns.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select_output.h"
#include "sql/query/union_order.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

Task<Status> precompute_conditions(StatementContext& context, const ast::List<ast::TableRef>& from) {
  for (const ast::TableRef& ref : from) {
    COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, ref.on));
    if (ref.nested != nullptr)
      COMMITD_CO_RETURN_IF_ERROR(co_await precompute_conditions(context, *ref.nested));
  }
  co_return Status();
}

bool anything_to_precompute(const ast::SelectStatement& select) {
  const auto any_condition = [](const auto& self, const ast::List<ast::TableRef>& from) -> bool {
    return std::any_of(from.begin(), from.end(), [&](const ast::TableRef& ref) {
      return needs_precompute(ref.on) || (ref.nested != nullptr && self(self, *ref.nested));
    });
  };
  return std::any_of(select.items.begin(), select.items.end(),
                     [](const ast::SelectItem& item) { return needs_precompute(item.expression); }) ||
         any_condition(any_condition, select.from) || needs_precompute(select.where) ||
         std::any_of(select.group_by.begin(), select.group_by.end(), needs_precompute) ||
         needs_precompute(select.having) ||
         std::any_of(select.order_by.begin(), select.order_by.end(),
                     [](const ast::OrderItem& item) { return needs_precompute(item.expression); });
}

}  // namespace

Task<Status> precompute_all(StatementContext& context, const ast::SelectStatement& select) {
  const bool may_wait = select.from.empty();
  for (const ast::SelectItem& item : select.items)
    COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, item.expression, may_wait));
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute_conditions(context, select.from));
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, select.where, may_wait));
  for (const ast::Expr* group : select.group_by)
    COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, group));
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, select.having));
  for (const ast::OrderItem& item : select.order_by)
    COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, item.expression));
  co_return Status();
}

namespace {

void conform_rows(std::vector<Row>& rows, std::span<const ResultColumn> columns) {
  for (Row& row : rows) {
    for (size_t i = 0; i < columns.size(); ++i) conform(row[i], type_of_result(columns[i]));
  }
}

// The index columns that follow those with one value are the order in which rows come.
bool order_matches(const BoundSelect& select, const AccessPath& path, bool& backwards) {
  size_t part = 0;
  while (part < path.bounds.size() && (path.bounds[part].equal != nullptr || path.bounds[part].is_null))
    ++part;
  for (size_t i = part; i < path.bounds.size(); ++i) {
    if (path.bounds[i].any_of != nullptr) return false;  // several ranges
  }
  const TableDef& table = *select.scope.sources[0].definition;
  for (size_t i = 0; i < select.order_by.size(); ++i, ++part) {
    const BoundOrder& order = select.order_by[i];
    const auto* column = dynamic_cast<const ColumnReference*>(
        order.expression ? order.expression.get() : select.items[order.item].get());
    if (column == nullptr || part >= path.index->columns.size()) return false;
    const IndexColumn& index_column = path.index->columns[part];
    const FieldType type = table.columns[index_column.column].type;
    if (column->column() != index_column.column || index_column.prefix_length != 0) return false;
    if (has_labels(type)) return false;
    if (i > 0 && order.descending != backwards) return false;
    backwards = order.descending;
  }
  return true;
}

// Lets an index give the order where that saves sorting; true when it does.
bool use_index_order(const BoundSelect& select, JoinPlan& plan) {
  if (plan.levels.size() != 1 || select.scope.sources[0].rows || select.order_by.empty() || select.grouped)
    return false;
  if (is_remote(*select.scope.sources[0].definition)) return false;
  AccessPath& path = plan.levels[0].path;
  bool backwards = false;
  if (!path.unique && order_matches(select, path, backwards)) {
    path.backwards = backwards;
    return true;
  }
  if (!path.bounds.empty() || select.limit == UINT64_MAX) return false;
  for (const IndexDef& index : select.scope.sources[0].definition->indexes) {
    AccessPath other;
    other.index = &index;
    if (index.columns.empty() || !order_matches(select, other, backwards)) continue;
    path = other;
    path.backwards = backwards;
    return true;
  }
  return false;
}

bool rows_can_be_locked(const Source& source) {
  return !source.rows && !is_remote(*source.definition) &&
         storage::engine_of(*source.definition).transactional;
}

// As in InnoDB, the rows from which a statement makes its changes stay as they are until those are committed;
// not at READ COMMITTED.
bool reads_for_change(const StatementContext& context, const BoundSelect& select) {
  return context.changes && context.entered &&
         context.session.transaction->isolation() >= txn::Isolation::RepeatableRead &&
         std::ranges::all_of(select.scope.sources, rows_can_be_locked);
}

txn::ReadMode read_mode(const StatementContext& context, const BoundSelect& select) {
  if (select.mode != txn::ReadMode::Snapshot) return select.mode;
  if (reads_for_change(context, select)) return txn::ReadMode::LockShared;
  const SessionState& session = context.session;
  const bool several_statements = session.in_explicit_transaction || !session.settings.autocommit;
  const bool serializable =
      several_statements && session.transaction->isolation() == txn::Isolation::Serializable;
  return serializable ? txn::ReadMode::LockShared : txn::ReadMode::Snapshot;
}

// SELECT without FROM: one row, if the condition holds.
Task<Status> one_row(const BoundSelect& select, Evaluation& evaluation, SelectOutput& output) {
  Value scratch;
  const bool wanted = !select.where || is_true(select.where->evaluate(evaluation, scratch));
  if (wanted) {
    auto more = output.consume(evaluation, nullptr);
    if (!more.ok()) co_return std::move(more).error();
  }
  co_return evaluation.status();
}

}  // namespace

PlannedSelect plan_select(const StatementContext& context, std::unique_ptr<BoundSelect> bound) {
  PlannedSelect planned;
  planned.bound = std::move(bound);
  const BoundSelect& s = *planned.bound;
  if (s.scope.sources.empty()) return planned;
  planned.plan = plan_join(s.scope, s.nests, s.on, s.where.get(), read_mode(context, s),
                           s.keeps_order ? TableOrder::Written : TableOrder::Chosen);
  planned.plan.locked_rows = s.locked_rows;
  planned.plan.most_rows = context.session.settings.most_rows_examined;
  planned.ordered = use_index_order(s, planned.plan);
  return planned;
}

Task<Status> run_planned(StatementContext& context, const PlannedSelect& planned, Evaluation& evaluation,
                         ResultSink& sink) {
  const BoundSelect& s = *planned.bound;
  if (s.limit == 0 && !s.calc_found_rows) {
    context.session.found_rows = 0;
    co_return Status();
  }
  SelectOutput output(context, s, sink, planned.ordered);
  if (s.scope.sources.empty())
    COMMITD_CO_RETURN_IF_ERROR(co_await one_row(s, evaluation, output));
  else
    COMMITD_CO_RETURN_IF_ERROR(co_await read_rows(context, planned.plan, evaluation, output));
  COMMITD_CO_RETURN_IF_ERROR(co_await output.finish(evaluation));
  context.session.found_rows = output.found_rows();
  co_return Status();
}

namespace {

Task<Result<PlannedSelect>> plan_anew(StatementContext& context, const ast::SelectStatement& select) {
  auto from = co_await open_from(context, select.from);
  if (!from.ok()) co_return std::move(from).error();
  auto bound = bind_select(context, select, *std::move(from));
  if (!bound.ok()) co_return std::move(bound).error();
  PlannedSelect planned = plan_select(context, *std::move(bound));
  for (JoinLevel& level : planned.plan.levels) level.read_columns = columns_named(select, *level.source);
  co_return std::move(planned);
}

// What of a kept plan is not the same in each execution.
Status renew(StatementContext& context, const ast::SelectStatement& select, PlannedSelect& planned) {
  auto limit = row_limit(context, select);
  if (!limit.ok()) return std::move(limit).error();
  auto offset = limit_value(context, select.offset, 0);
  if (!offset.ok()) return std::move(offset).error();
  planned.bound->limit = *limit;
  planned.bound->offset = *offset;
  planned.plan.mode = read_mode(context, *planned.bound);
  planned.plan.most_rows = context.session.settings.most_rows_examined;
  return {};
}

Task<Status> run_cached(StatementContext& context, CachedSelect& kept, ResultSink& sink) {
  auto entered = co_await enter_kept_table(context, &kept, privilege::kSelect);
  if (!entered.ok()) co_return std::move(entered).error();
  if (*entered) {
    COMMITD_CO_RETURN_IF_ERROR(renew(context, kept.select(), kept.planned()));
  } else {
    auto planned = co_await plan_anew(context, kept.select());
    if (!planned.ok()) co_return std::move(planned).error();
    kept.keep(context.session, *std::move(planned));
  }
  begin_kept_rows(sink, kept.columns());
  count_paths(kept.planned().plan, context.session.status);
  Status status;
  auto done = co_await run_point(context, kept, sink);
  if (!done.ok()) {
    status = std::move(done).error();
  } else if (!*done) {
    Evaluation evaluation = context.evaluation();
    status = co_await run_planned(context, kept.planned(), evaluation, sink);
  }
  kept.shrink();
  co_return status;
}

Task<Status> run_simple(StatementContext& context, const ast::SelectStatement& select, ResultSink& sink) {
  if (context.kept != nullptr)
    co_return co_await run_cached(context, static_cast<CachedSelect&>(*context.kept), sink);
  if (anything_to_precompute(select)) COMMITD_CO_RETURN_IF_ERROR(co_await precompute_all(context, select));
  auto made = co_await plan_anew(context, select);
  if (!made.ok()) co_return std::move(made).error();
  const PlannedSelect planned = *std::move(made);
  sink.begin_rows(planned.bound->columns);
  if (context.describe_only) co_return Status();
  count_paths(planned.plan, context.session.status);
  Evaluation evaluation = context.evaluation();
  co_return co_await run_planned(context, planned, evaluation, sink);
}

std::string row_key(const Row& row, std::span<const ResultColumn> columns) {
  std::string key;
  for (size_t i = 0; i < row.size(); ++i) append_group_key(key, row[i], columns[i].value_collation);
  return key;
}

// The columns that all parts have in common; 1222 when they differ in number.
Result<std::vector<ResultColumn>> union_columns(std::span<const RowBuffer> parts) {
  std::vector<ResultColumn> columns = parts.front().columns;
  for (const RowBuffer& part : parts) {
    if (columns.size() != part.columns.size())
      return make_error(er::kWrongNumberOfColumnsInSelect,
                        "The used SELECT statements have a different number of columns");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<ValueType> types;
    for (const RowBuffer& part : parts) types.push_back(type_of_result(part.columns[i]));
    columns[i] = describe_column(Constant(Value::null(), common_type(types)), Scope(), columns[i].name);
  }
  return columns;
}

// SQL_CALC_FOUND_ROWS stands in the first SELECT of all.
bool counts_found_rows(const ast::SelectStatement& select) {
  if (select.union_parts == nullptr) return select.calc_found_rows;
  return counts_found_rows(*select.union_parts->front().select);
}

Task<Status> run_union(StatementContext& context, const ast::SelectStatement& select, ResultSink& sink) {
  std::vector<RowBuffer> parts(select.union_parts->size());
  for (size_t i = 0; i < parts.size(); ++i)
    COMMITD_CO_RETURN_IF_ERROR(co_await run_select(context, *(*select.union_parts)[i].select, parts[i]));
  auto common = union_columns(parts);
  if (!common.ok()) co_return std::move(common).error();
  const std::vector<ResultColumn> columns = *std::move(common);
  std::vector<Row> rows;
  for (size_t i = 0; i < parts.size(); ++i) {
    conform_rows(parts[i].rows, columns);
    rows.insert(rows.end(), std::make_move_iterator(parts[i].rows.begin()),
                std::make_move_iterator(parts[i].rows.end()));
    if ((*select.union_parts)[i].all) continue;
    absl::flat_hash_set<std::string> seen;  // a UNION without ALL makes everything so far distinct
    std::erase_if(rows, [&](const Row& row) { return !seen.insert(row_key(row, columns)).second; });
  }
  COMMITD_CO_RETURN_IF_ERROR(co_await sort_union(context, select, columns, rows));
  auto limit = row_limit(context, select);
  if (!limit.ok()) co_return std::move(limit).error();
  auto offset = limit_value(context, select.offset, 0);
  if (!offset.ok()) co_return std::move(offset).error();
  sink.begin_rows(columns);
  for (uint64_t i = *offset; i < rows.size() && i - *offset < *limit; ++i) {
    sink.send_row(rows[i]);
    COMMITD_CO_RETURN_IF_ERROR(co_await take_turn(context));
    if (sink.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await sink.flush());
  }
  const uint64_t shown = rows.size() > *offset ? std::min<uint64_t>(rows.size() - *offset, *limit) : 0;
  context.session.found_rows = counts_found_rows(select) ? rows.size() : shown;
  co_return Status();
}

Task<Status> run_body(StatementContext& context, const ast::SelectStatement& select, ResultSink& sink) {
  if (select.union_parts != nullptr) return run_union(context, select, sink);
  return run_simple(context, select, sink);
}

Task<Status> run_with(StatementContext& context, const ast::SelectStatement& select, ResultSink& sink) {
  const size_t before = context.common_tables.size();
  for (const ast::CommonTable& table : *select.with) {
    RowBuffer buffer;
    COMMITD_CO_RETURN_IF_ERROR(co_await run_select(context, *table.select, buffer));
    auto source = source_of_result(table.name, buffer.columns, std::move(buffer.rows), table.columns);
    if (!source.ok()) co_return std::move(source).error();
    context.common_tables.push_back(*std::move(source));
  }
  auto status = co_await run_body(context, select, sink);
  context.common_tables.resize(before);
  co_return status;
}

}  // namespace

Task<Status> run_select(StatementContext& context, const ast::SelectStatement& select, ResultSink& sink) {
  if (select.with != nullptr) return run_with(context, select, sink);
  return run_body(context, select, sink);
}

ValueType type_of_result(const ResultColumn& column) {
  ValueType type;
  type.type = column.type;
  type.collation = column.value_collation;
  type.strength = static_cast<ValueType::Strength>(column.collation_strength);
  type.decimals = column.decimals;
  type.is_unsigned = (column.flags & 32) != 0;
  type.nullable = (column.flags & 1) == 0;
  type.length = column.collation == kBinaryCollation ? column.length : column.length / 4;
  if (type.type == FieldType::Json) type.length = ValueType::json().length;
  type.length -= more_than_digits(type);
  return type;
}

Task<Status> enter_table(StatementContext& context, std::string_view db, std::string_view name,
                         Privileges needed) {
  const TableLocks& locked = context.session.table_locks;
  context.enter();
  COMMITD_CO_RETURN_IF_ERROR(locked.check(db, name, (needed & ~privilege::kSelect) != 0));
  if (locked.tables_locked() && locked.covers(db, name)) co_return Status();
  co_return co_await context.transaction().lock_table(db, name, txn::LockMode::Shared);
}

namespace {

Error no_such_table(const SessionState& session, std::string_view db, std::string_view name) {
  if (same_name(db, "information_schema"))
    return make_error(er::kUnknownTable, "Unknown table '{}' in information_schema", upper_case(name));
  if (!is_virtual_database(db) && !session.server.catalog->has_database(db))
    return make_error(er::kBadDb, "Unknown database '{}'", db);
  return make_error(er::kNoSuchTable, "Table '{}.{}' doesn't exist", db, name);
}

// By its name, or as much of it as no other one begins with.
bool has_index(const TableDef& table, std::string_view name) {
  size_t beginnings = 0;
  for (const IndexDef& index : table.indexes) {
    const std::string_view its_name = index.primary ? std::string_view("PRIMARY") : index.name;
    if (equal_words(its_name, name)) return true;
    if (equal_words(its_name.substr(0, name.size()), name)) ++beginnings;
  }
  return beginnings == 1;
}

Status check_hints(const Source& source, const ast::TableRef& ref) {
  if (ref.hinted == nullptr) return {};
  for (const std::string_view name : *ref.hinted) {
    if (!has_index(*source.definition, name))
      return make_error(er::kKeyDoesNotExist, "Key '{}' doesn't exist in table '{}'", name, source.alias);
  }
  return {};
}

}  // namespace

Task<Result<Source>> open_table(StatementContext& context, const ast::TableRef& ref, Privileges needed,
                                std::string_view command) {
  SessionState& session = context.session;
  if (ref.name.db.empty()) {
    const auto& common = context.common_tables;  // the innermost WITH comes last
    const auto found = std::find_if(common.rbegin(), common.rend(), [&](const Source& table) {
      return same_name(table.alias, ref.name.name);
    });
    if (found != common.rend()) {
      Source source = *found;
      if (!ref.alias.empty()) source.alias = std::string(ref.alias);
      co_return source;
    }
  }
  const std::string db(ref.name.db.empty() ? std::string_view(session.database) : ref.name.db);
  if (db.empty()) co_return make_error(er::kNoDb, "No database selected");
  if (const VirtualTable* table = find_virtual_table(db, ref.name.name)) {
    if (!is_virtual_database(db))  // mysql.user …: not for everybody
      COMMITD_CO_RETURN_IF_ERROR(session.require_on_table(db, ref.name.name, needed, command));
    if (needed != privilege::kSelect)
      co_return make_error(er::kDbAccessDenied, "Access denied for user '{}'@'{}' to database '{}'",
                           session.account.user, session.account.host, db);
    Source source = Source::of_table(table->definition, ref.alias);
    source.rows = std::make_shared<const std::vector<Row>>(context.describe_only ? std::vector<Row>()
                                                                                 : table->rows(session));
    co_return source;
  }
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  COMMITD_CO_RETURN_IF_ERROR(session.require_on_table(db, ref.name.name, needed, command));
  if (rows_are_lost(session, db, ref.name.name))
    COMMITD_CO_RETURN_IF_ERROR(co_await empty_if_rows_are_lost(session, db, ref.name.name));
  COMMITD_CO_RETURN_IF_ERROR(co_await enter_table(context, db, ref.name.name, needed));
  TablePtr table = session.server.catalog->find_table(db, ref.name.name);
  if (table == nullptr) {
    co_return no_such_table(session, db, ref.name.name);
  }
  if (needed != privilege::kSelect) COMMITD_CO_RETURN_IF_ERROR(require_writable(*table));
  Source source = Source::of_table(std::move(table), ref.alias);
  COMMITD_CO_RETURN_IF_ERROR(check_hints(source, ref));
  co_return source;
}

}  // namespace commitd::sql

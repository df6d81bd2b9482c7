#include "sql/query/explain.h"

#include "base/error_codes.h"
#include "sql/ast/changes.h"
#include "sql/change/changed_rows.h"
#include "sql/query/from_clause.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

enum Column : size_t {
  kId,
  kSelectType,
  kTable,
  kPartitions,
  kType,
  kPossibleKeys,
  kKey,
  kKeyLength,
  kRef,
  kRows,
  kFiltered,
  kExtra,
  kColumnCount
};

std::vector<ResultColumn> explain_columns() {
  static const std::pair<const char*, ValueType> kColumns[kColumnCount] = {
      {"id", ValueType::integer(3, true)}, {"select_type", ValueType::text(19)},
      {"table", ValueType::text(64)},      {"partitions", ValueType::text(64)},
      {"type", ValueType::text(10)},       {"possible_keys", ValueType::text(256)},
      {"key", ValueType::text(64)},        {"key_len", ValueType::text(16)},
      {"ref", ValueType::text(256)},       {"rows", ValueType::integer(10, true)},
      {"filtered", ValueType::real()},     {"Extra", ValueType::text(255)}};
  std::vector<ResultColumn> columns;
  for (const auto& [name, type] : kColumns)
    columns.push_back(describe_column(Constant(Value::null(), type), Scope(), name));
  return columns;
}

Row explain_row(const char* select_type, const std::string& table, std::string_view type) {
  Row row(kColumnCount);
  row[kId] = Value::integer(1);
  row[kSelectType] = Value::string(select_type);
  row[kTable] = Value::string(table);
  row[kType] = Value::string(std::string(type));
  return row;
}

Task<Result<std::vector<Row>>> explain_select(StatementContext& context, const ast::SelectStatement& select) {
  if (select.union_parts != nullptr)
    co_return make_error(er::kNotSupportedYet,
                         "This version of MySQL doesn't yet support 'EXPLAIN of a UNION'");
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute_all(context, select));
  auto scope = co_await open_from(context, select.from);
  if (!scope.ok()) co_return std::move(scope).error();
  auto bound = bind_select(context, select, *std::move(scope));
  if (!bound.ok()) co_return std::move(bound).error();
  std::vector<Row> rows;
  if ((*bound)->scope.sources.empty()) co_return rows;
  const PlannedSelect planned = plan_select(context, *std::move(bound));
  for (const JoinLevel& level : planned.plan.levels) {
    const bool stored = !level.source->rows;
    Row row = explain_row("SIMPLE", level.source->alias,
                          stored ? access_type(level.path, *level.source->definition) : "ALL");
    if (stored && (!level.path.bounds.empty() || planned.ordered))
      row[kKey] = Value::string(level.path.index->name);
    if (!planned.bound->order_by.empty() && !planned.ordered) row[kExtra] = Value::string("Using filesort");
    rows.push_back(std::move(row));
  }
  co_return rows;
}

Task<Result<std::vector<Row>>> explain_change(StatementContext& context, const ast::List<ast::TableRef>& from,
                                              RowSelection selection, Privileges needed,
                                              const char* command) {
  if (from.size() != 1) {
    co_return make_error(er::kNotSupportedYet,
                         "This version of MySQL doesn't yet support 'EXPLAIN of {} of several tables'",
                         command);
  }
  selection.table = &from.front();
  auto source = co_await open_table(context, *selection.table, needed, command);
  if (!source.ok()) co_return std::move(source).error();
  Scope scope;
  scope.sources.push_back(*std::move(source));
  auto planned = co_await plan_change(context, scope, selection);
  if (!planned.ok()) co_return std::move(planned).error();
  const JoinLevel& level = planned->plan.levels[0];
  const Source& table = scope.sources[0];
  // MySQL looks up what it changes as a range, also where that is one row.
  Row row = explain_row(command, table.alias,
                        level.path.unique ? "range" : access_type(level.path, *table.definition));
  if (!level.path.bounds.empty()) row[kKey] = Value::string(level.path.index->name);
  std::string extra;
  if (selection.where != nullptr) extra = "Using where";
  if (!selection.order_by->empty()) extra += extra.empty() ? "Using filesort" : "; Using filesort";
  if (!extra.empty()) row[kExtra] = Value::string(extra);
  std::vector<Row> rows;
  rows.push_back(std::move(row));
  co_return rows;
}

Task<Result<std::vector<Row>>> explain_insert(StatementContext& context,
                                              const ast::InsertStatement& statement) {
  const bool replace = statement.mode == ast::InsertMode::Replace;
  const char* command = replace ? "REPLACE" : "INSERT";
  ast::TableRef ref;
  ref.name = statement.table;
  auto source = co_await open_table(context, ref, privilege::kInsert, command);
  if (!source.ok()) co_return std::move(source).error();
  std::vector<Row> rows;
  rows.push_back(explain_row(command, source->alias, "ALL"));
  if (statement.select == nullptr) co_return rows;
  auto selected = co_await explain_select(context, *statement.select);
  if (!selected.ok()) co_return std::move(selected).error();
  for (Row& row : *selected) rows.push_back(std::move(row));
  co_return rows;
}

Task<Result<std::vector<Row>>> explain_statement(StatementContext& context, const ast::Statement& statement) {
  using ast::StatementKind;
  switch (statement.kind) {
    case StatementKind::Select:
      return explain_select(context, ast::as<ast::SelectStatement>(statement));
    case StatementKind::Update: {
      const auto& update = ast::as<ast::UpdateStatement>(statement);
      return explain_change(context, update.from, {nullptr, update.where, &update.order_by, update.limit},
                            privilege::kUpdate, "UPDATE");
    }
    case StatementKind::Delete: {
      const auto& erase = ast::as<ast::DeleteStatement>(statement);
      return explain_change(context, erase.from, {nullptr, erase.where, &erase.order_by, erase.limit},
                            privilege::kDelete, "DELETE");
    }
    default:
      return explain_insert(context, ast::as<ast::InsertStatement>(statement));
  }
}

}  // namespace

Task<Status> execute_explain(StatementContext& context, const ast::ExplainStatement& statement,
                             ResultSink& sink) {
  auto rows = co_await explain_statement(context, *statement.statement);
  if (!rows.ok()) co_return std::move(rows).error();
  sink.begin_rows(explain_columns());
  for (const Row& row : *rows) sink.send_row(row);
  co_return Status();
}

}  // namespace commitd::sql

#include "sql/executor/kept_select.h"

#include <algorithm>

#include "observe/metrics.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;
using ast::Op;

bool is_literal(const ast::Expr& tree) {
  return tree.kind <= ExprKind::Bits ||
         (tree.kind == ExprKind::Unary && tree.op == Op::Negate && tree.arguments[0]->kind <= ExprKind::Bits);
}

bool is_operand(const ast::Expr* tree) {
  return tree->kind == ExprKind::Column || tree->kind == ExprKind::Parameter || is_literal(*tree);
}

bool all_operands(const ast::Expr& tree) {
  return std::all_of(tree.arguments.begin(), tree.arguments.end(), is_operand);
}

// Parameters stand in comparisons only: there nothing but the kind of a value matters to the binder.
bool is_condition(const ast::Expr& tree) {
  const auto of_conditions = [&tree] {
    return std::all_of(tree.arguments.begin(), tree.arguments.end(),
                       [](const ast::Expr* argument) { return is_condition(*argument); });
  };
  switch (tree.kind) {
    case ExprKind::Binary:
      if (tree.op == Op::And) return of_conditions();
      // || may mean a concatenation.
      if (tree.op == Op::Or) return tree.source.find("||") == std::string_view::npos && of_conditions();
      return tree.op >= Op::Equal && tree.op <= Op::GreaterEqual && all_operands(tree);
    case ExprKind::Unary:
      return tree.op == Op::Not && of_conditions();
    case ExprKind::Between:
    case ExprKind::In:
      return all_operands(tree);
    case ExprKind::IsNull:
      return tree.arguments[0]->kind == ExprKind::Column;
    default:
      return false;
  }
}

bool is_aggregate_of_column(const ast::Expr& tree) {
  constexpr std::string_view kKnown[] = {"AVG", "COUNT", "MAX", "MIN", "SUM"};
  return tree.kind == ExprKind::Function && tree.order == nullptr &&
         std::find(std::begin(kKnown), std::end(kKnown), tree.text) != std::end(kKnown) &&
         std::all_of(tree.arguments.begin(), tree.arguments.end(), [](const ast::Expr* argument) {
           return argument->kind == ExprKind::Column || argument->kind == ExprKind::Star;
         });
}

bool is_item(const ast::SelectItem& item) {
  const ast::Expr& tree = *item.expression;
  return tree.kind == ExprKind::Column || tree.kind == ExprKind::Star || is_literal(tree) ||
         is_aggregate_of_column(tree);
}

bool is_column_or_number(const ast::Expr* tree) {
  return tree->kind == ExprKind::Column || tree->kind == ExprKind::Integer;
}

bool is_one_table(const ast::List<ast::TableRef>& from) {
  return from.size() == 1 && from[0].derived == nullptr && from[0].nested == nullptr;
}

bool is_worth_keeping(const ast::SelectStatement& select) {
  return select.union_parts == nullptr && select.with == nullptr && is_one_table(select.from) &&
         std::all_of(select.items.begin(), select.items.end(), is_item) &&
         (select.where == nullptr || is_condition(*select.where)) &&
         std::all_of(select.group_by.begin(), select.group_by.end(), is_column_or_number) &&
         select.having == nullptr &&
         std::all_of(select.order_by.begin(), select.order_by.end(),
                     [](const ast::OrderItem& item) { return is_column_or_number(item.expression); });
}

// Kinds whose types say nothing else that a comparison goes by.
bool is_plain(const Value& value) {
  using Kind = Value::Kind;
  switch (value.kind()) {
    case Kind::Int:
    case Kind::UInt:
    case Kind::Double:
    case Kind::Decimal:
    case Kind::String:
      return true;
    default:
      return false;
  }
}

bool same_kinds(std::span<const Value> left, std::span<const Value> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Value& l, const Value& r) {
    return l.kind() == r.kind() && l.is_binary() == r.is_binary();
  });
}

bool reads_one_row(const ast::SelectStatement& select, const PlannedSelect& planned) {
  const AccessPath& path = planned.plan.levels[0].path;
  return path.unique && path.index->primary && select.limit == nullptr && select.offset == nullptr &&
         !planned.bound->grouped && planned.bound->mode == txn::ReadMode::Snapshot;
}

}  // namespace

std::unique_ptr<KeptSelect> KeptSelect::of(const ast::Statement& statement) {
  if (statement.kind != ast::StatementKind::Select) return nullptr;
  const auto& select = ast::as<ast::SelectStatement>(statement);
  return is_worth_keeping(select) ? std::make_unique<KeptSelect>(select) : nullptr;
}

bool KeptSelect::take_parameters(std::span<const Value> parameters) {
  if (!std::all_of(parameters.begin(), parameters.end(), is_plain)) return false;
  if (!same_kinds(parameters_, parameters)) basis_.lasts = false;
  parameters_.assign(parameters.begin(), parameters.end());
  return true;
}

void KeptSelect::keep(const SessionState& session, PlannedSelect planned) {
  wanted_columns_.reset();
  planned_ = std::move(planned);
  columns_ = {planned_.bound->columns, {}, 0, 0};
  const Source& source = planned_.bound->scope.sources[0];
  const SessionSettings& settings = session.settings;
  // Rows of virtual tables are made anew each time, others come from another server; those in memory may have
  // to be emptied first.
  const auto is_ordinary = [](const storage::TableEngine& engine) {
    return !engine.in_memory && !engine.remote;
  };
  const bool lasts = !source.rows && is_ordinary(storage::engine_of(*source.definition));
  basis_ = {session.record_version,
            settings.sql_mode,
            settings.time_zone_offset,
            settings.connection_collation,
            settings.client_collation,
            session.database,
            lasts};
  is_point_ = lasts && reads_one_row(select_, planned_);
  if (is_point_) {
    if (const auto& columns = planned_.plan.levels[0].read_columns)
      wanted_columns_.emplace(table(), *columns);
  }
  buffers_ = {};
}

bool KeptSelect::holds(const SessionState& session) const {
  const SessionSettings& settings = session.settings;
  return basis_.lasts && session.server.accounts != nullptr &&
         basis_.accounts == session.server.accounts->version() && basis_.sql_mode == settings.sql_mode &&
         basis_.time_zone_offset == settings.time_zone_offset &&
         basis_.connection_collation == settings.connection_collation &&
         basis_.client_collation == settings.client_collation && basis_.database == session.database;
}

bool KeptSelect::has_present_table(const SessionState& session) const {
  const TablePtr& known = planned_.bound->scope.sources[0].definition;
  return session.server.catalog->find_table(known->db, known->name) == known;
}

void KeptSelect::count_reuse() {
  static auto& reused = observe::counter("commitd_plans_reused_total",
                                         "Executions of prepared statements whose plan had been kept.");
  reused.add();
}

void KeptSelect::shrink() {
  if (!basis_.lasts) planned_ = {};
  constexpr size_t kMost = 4096;
  size_t size = buffers_.stored.capacity();
  for (const Value& value : parameters_) size += value.as_string().capacity();
  for (const Value& value : buffers_.output) size += 2 * value.as_string().capacity();  // once more in `row`
  if (size <= kMost) return;
  buffers_ = {};
  // The kinds stay: the plan goes by them.
  for (Value& value : parameters_) {
    if (value.kind() == Value::Kind::String) value = Value::string({}, value.is_binary());
  }
}

}  // namespace commitd::sql

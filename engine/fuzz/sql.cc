// Any text as a client sends it: parsed statement by statement; what is then bound has one table with a
// column of every type and two rows, a random one and one of NULLs. SELECTs are answered from them, the
// values of INSERT and UPDATE are stored in its columns.
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "sql/ast/changes.h"
#include "sql/change/row_rules.h"
#include "sql/parser/parser.h"
#include "sql/query/bound_select.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select_output.h"
#include "sql/session_state.h"
#include "storage/record/random_rows.h"

using namespace commitd;
using namespace commitd::sql;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// What the statements are about.
struct Server {
  Server() {
    context.variables = &variables;
    context.version = "8.4.0-commitd";
    TableDef every_type = commitd::testing::table_of_every_type();
    every_type.db = "d";
    every_type.name = "t";
    for (size_t i = 0; i < every_type.columns.size(); ++i)
      every_type.columns[i].name = "c" + std::to_string(i);
    std::mt19937_64 random(1);
    rows.push_back(commitd::testing::random_row(every_type, random));
    rows.emplace_back(every_type.columns.size());
    table = std::make_shared<const TableDef>(std::move(every_type));
  }
  SystemVariables variables;
  ServerContext context;
  TablePtr table;
  std::vector<Row> rows;
};

Server& server() {
  static Server only;
  return only;
}

FromClause from_clause(bool has_table) {
  FromClause from;
  if (!has_table) return from;
  from.scope.sources.push_back(Source::of_table(server().table, "t"));
  for (size_t i = 0; i < server().table->columns.size(); ++i) from.star.push_back({0, i});
  return from;
}

// Nothing here waits.
void finish(Task<Status> task) {
  must(!task.await_suspend(std::noop_coroutine()));
  (void)task.await_resume();
}

void answer(StatementContext& context, const ast::SelectStatement& select) {
  if (select.union_parts != nullptr) {
    for (const auto& part : *select.union_parts) answer(context, *part.select);
    return;
  }
  auto bound = bind_select(context, select, from_clause(!select.from.empty()));
  if (!bound.ok()) return;
  const BoundSelect& s = **bound;
  must(s.items.size() == s.columns.size());
  RowBuffer buffer;
  SelectOutput output(context, s, buffer, false);
  Evaluation evaluation(context.session);
  for (const Row& row : server().rows) {
    evaluation.rows.assign(s.scope.sources.size(), row.data());
    Value scratch;
    if (s.where) (void)s.where->evaluate(evaluation, scratch);
    if (evaluation.failed() || !output.consume(evaluation, nullptr).ok()) return;
  }
  finish(output.finish(evaluation));
  for (const Row& row : buffer.rows) must(row.size() == s.columns.size());
}

// Of all values of an input; which one goes where depends on nothing but the input.
size_t stored_values = 0;

// Every value goes into a few of the columns, the next one into the next few: as it is, or as near as it
// comes.
void store(StatementContext& context, const Value& value) {
  constexpr size_t kColumnsOfOne = 3;
  const std::vector<ColumnDef>& columns = server().table->columns;
  for (size_t i = 0; i < kColumnsOfOne; ++i, ++stored_values) {
    const bool strict = stored_values / columns.size() % 2 == 0;
    StoreContext into = store_context(context.session, !strict);
    auto stored = convert_for_column(columns[stored_values % columns.size()], value, into);
    must(strict || stored.ok());
  }
}

void evaluate(StatementContext& context, const ast::Expr* tree, bool stored) {
  if (tree == nullptr || tree->kind == ast::ExprKind::Default) return;
  const FromClause from = from_clause(true);
  auto bound = context.binder(from.scope).bind(*tree, "field list");
  if (!bound.ok()) return;
  Evaluation evaluation(context.session);
  for (const Row& row : server().rows) {
    evaluation.rows.assign(1, row.data());
    Value scratch;
    const Value& value = (*bound)->evaluate(evaluation, scratch);
    if (stored && !evaluation.failed()) store(context, value);
  }
}

void execute(SessionState& session, const ast::Statement& statement) {
  session.diagnostics.clear();
  const std::vector<Value> parameters(statement.parameter_count, Value::string("7"));
  StatementContext context{session, parameters, {}};
  switch (statement.kind) {
    case ast::StatementKind::Select:
      return answer(context, ast::as<ast::SelectStatement>(statement));
    case ast::StatementKind::Insert: {
      const auto& insert = ast::as<ast::InsertStatement>(statement);
      for (const auto* row : insert.rows) {
        for (const ast::Expr* value : *row) evaluate(context, value, true);
      }
      if (insert.select != nullptr) answer(context, *insert.select);
      return;
    }
    case ast::StatementKind::Update: {
      const auto& update = ast::as<ast::UpdateStatement>(statement);
      must(!update.from.empty());
      for (const ast::Assignment& assignment : update.assignments) evaluate(context, assignment.value, true);
      return evaluate(context, update.where, false);
    }
    case ast::StatementKind::Delete: {
      const auto& remove = ast::as<ast::DeleteStatement>(statement);
      must(!remove.from.empty());
      return evaluate(context, remove.where, false);
    }
    default:
      return;
  }
}

// Texts cannot grow to what would take seconds, or all of the memory.
constexpr int64_t kMaxAllowedPacketHere = 16384;

// Each statement is found inside the text, and the rest is shorter.
void run(std::string_view text, LexerOptions options) {
  SessionState session(server().context, 1);
  session.database = "d";
  must(session.variables.set(kMaxAllowedPacket, Value::integer(kMaxAllowedPacketHere)).ok());
  stored_values = 0;
  Arena arena;
  while (!text.empty()) {
    auto parsed = parse_statement(text, arena, options);
    if (!parsed.ok()) {
      must(!parsed.error().message.empty());
      return;
    }
    const std::string_view own = parsed->statement->text;
    must(own.empty() || (own.data() >= text.data() && own.data() + own.size() <= text.data() + text.size()));
    must(parsed->rest.size() < text.size());
    execute(session, *parsed->statement);
    text = parsed->rest;
    arena.reset();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  run(text, {});
  if (text.find_first_of("\"\\") != std::string_view::npos) run(text, {true, true});
  return 0;
}

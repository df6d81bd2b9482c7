#include "sql/prepared_statements.h"

#include <atomic>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/parser/parser.h"

namespace commitd::sql {
namespace {

std::atomic<uint64_t> prepared_statements{0};  // of all sessions

bool can_be_prepared(const ast::Statement& statement) {
  switch (statement.kind) {
    case ast::StatementKind::Begin:
    case ast::StatementKind::Prepare:
    case ast::StatementKind::Execute:
    case ast::StatementKind::Deallocate:
    case ast::StatementKind::Use:
    case ast::StatementKind::LockTables:
    case ast::StatementKind::UnlockTables:
      return false;
    default:
      return true;
  }
}

Error unknown_statement(std::string_view name, std::string_view command) {
  return make_error(er::kUnknownStmtHandler, "Unknown prepared statement handler ({}) given to {}", name,
                    command);
}

}  // namespace

PreparedStatement::PreparedStatement() {
  prepared_statements.fetch_add(1, std::memory_order_relaxed);
}
PreparedStatement::~PreparedStatement() {
  prepared_statements.fetch_sub(1, std::memory_order_relaxed);
}

CachedSelect* PreparedStatement::cached_select() const {
  const bool is_select = statement->kind == ast::StatementKind::Select;
  return is_select ? static_cast<CachedSelect*>(kept.get()) : nullptr;
}

Result<PreparedStatements::Pointer> PreparedStatements::parse(std::string_view sql) const {
  const uint64_t most = session_.server.variables->global("max_prepared_stmt_count").as_uint();
  if (prepared_statements.load(std::memory_order_relaxed) >= most) {
    return make_error(er::kMaxPreparedStmtCountReached,
                      "Can't create more than max_prepared_stmt_count statements (current value: {})", most);
  }
  auto prepared = std::make_shared<PreparedStatement>();
  prepared->text = std::string(sql);
  auto parsed = parse_statement(prepared->text, prepared->arena, lexer_options(session_.settings.sql_mode));
  if (!parsed.ok()) return std::move(parsed).error();
  if (parsed->statement->kind == ast::StatementKind::Empty) return Error{er::kEmptyQuery, "Query was empty"};
  if (!parsed->rest.empty() || !can_be_prepared(*parsed->statement)) {
    return Error{er::kUnsupportedPs, "This command is not supported in the prepared statement protocol yet"};
  }
  prepared->statement = parsed->statement;
  prepared->kept = CachedPlan::of(*parsed->statement);
  return prepared;
}

uint32_t PreparedStatements::add(Pointer prepared) {
  by_id_[++last_id_] = std::move(prepared);
  return last_id_;
}

Result<PreparedStatements::Pointer> PreparedStatements::find(uint32_t id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return unknown_statement(std::to_string(id), "mysqld_stmt_execute");
  return found->second;
}

size_t PreparedStatements::parameter_count(uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? 0 : found->second->statement->parameter_count;
}

void PreparedStatements::clear() {
  by_id_.clear();
  named_.clear();
}

Task<bool> PreparedStatements::run(PreparedStatement& prepared, std::span<const Value> parameters,
                                   ResultSink& sink, bool more_results) {
  CachedPlan* kept = prepared.kept.get();
  if (kept == nullptr || !kept->take_parameters(parameters))
    return run_statement(session_, *this, *prepared.statement, parameters, sink, more_results);
  return run_statement(session_, *this, *prepared.statement, kept->parameters(), sink, more_results, kept);
}

const Value* PreparedStatements::user_variable(std::string_view name) const {
  const auto found = session_.user_variables.find(lower_case(name));
  return found == session_.user_variables.end() ? nullptr : &found->second;
}

Status PreparedStatements::prepare_by_name(const ast::PrepareStatement& statement) {
  std::string_view sql = statement.source;
  std::string from_variable;
  if (!statement.source_variable.empty()) {
    if (const Value* value = user_variable(statement.source_variable)) from_variable = value->to_text();
    sql = from_variable;
  }
  auto prepared = parse(sql);
  if (!prepared.ok()) return std::move(prepared).error();
  named_[lower_case(statement.name)] = *std::move(prepared);
  return {};
}

Status PreparedStatements::deallocate_by_name(std::string_view name) {
  if (named_.erase(lower_case(name)) > 0) return {};
  return unknown_statement(name, "DEALLOCATE PREPARE");
}

Task<bool> PreparedStatements::execute_by_name(const ast::ExecuteStatement& statement, ResultSink& sink,
                                               bool more_results) {
  const auto found = named_.find(lower_case(statement.name));
  if (found == named_.end()) {
    sink.error(unknown_statement(statement.name, "EXECUTE"));
    co_return false;
  }
  const Pointer prepared = found->second;  // stays while it runs
  if (prepared->statement->parameter_count != statement.variables.size()) {
    sink.error(make_error(er::kWrongArguments, "Incorrect arguments to EXECUTE"));
    co_return false;
  }
  std::vector<Value> parameters;
  for (const std::string_view name : statement.variables) {
    const Value* value = user_variable(name);
    parameters.push_back(value == nullptr ? Value::null() : *value);
  }
  co_return co_await run(*prepared, parameters, sink, more_results);
}

}  // namespace commitd::sql

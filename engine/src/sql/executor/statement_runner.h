// Runs one parsed statement from its beginning to the answer: dispatch, the transaction around it, warnings
// and counters.
#pragma once

#include <span>

#include "sql/ast/session_statements.h"
#include "sql/executor/statement_context.h"
#include "sql/result_sink.h"

namespace commitd::sql {

// Statements about other statements (PREPARE, EXECUTE): the session keeps those.
class PreparedStatementCommands {
 public:
  virtual ~PreparedStatementCommands() = default;
  virtual Status prepare_by_name(const ast::PrepareStatement& statement) = 0;
  virtual Status deallocate_by_name(std::string_view name) = 0;
  virtual Task<bool> execute_by_name(const ast::ExecuteStatement& statement, ResultSink& sink,
                                     bool more_results) = 0;
};

// `kept` (may be null): where its plan stays, with the parameters of this execution.
// False: it failed (the sink has the error), and the statements behind it are not run.
Task<bool> run_statement(SessionState& session, PreparedStatementCommands& prepared,
                         const ast::Statement& statement, std::span<const Value> parameters, ResultSink& sink,
                         bool more_results, CachedPlan* kept = nullptr);

// The columns a statement would answer with (none for those without a result).
Task<Result<std::vector<ResultColumn>>> describe_statement(SessionState& session,
                                                           const ast::Statement& statement,
                                                           std::span<const Value> parameters);

// USE.
Status use_database(SessionState& session, std::string_view db);

uint16_t server_status(const SessionState& session);

}  // namespace commitd::sql

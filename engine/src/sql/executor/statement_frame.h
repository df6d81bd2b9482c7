// What happens around every statement, whatever it does.
#pragma once

#include "sql/ast/statement.h"
#include "sql/result_sink.h"
#include "sql/session_state.h"

namespace commitd::sql {

// What a statement answers: rows (already sent but for their end) or an OK.
struct Answer {
  bool rows = false;
  OkInfo ok;
};

void start_statement(SessionState& session, const ast::Statement& statement);
// In Com_ and in the metrics.
void count_statement(SessionState& session, const ast::Statement& statement);
// Of one that went well; its transaction has ended if it is to end with it.
void end_statement(SessionState& session, const ast::Statement& statement, Answer& answer, ResultSink& sink,
                   bool more_results);

}  // namespace commitd::sql

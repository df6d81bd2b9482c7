// What happens around every statement, whatever it does.
#pragma once

#include "plugins/observers.h"
#include "sql/ast/statement.h"
#include "sql/result_sink.h"
#include "sql/session_state.h"

namespace commitd::sql {

// What a statement answers: rows (already sent but for their end) or an OK.
struct Answer {
  bool rows = false;
  OkInfo ok;
};

// What every statement begins with; all but those that need no transaction have start_statement().
void note_statement(SessionState& session, const ast::Statement& statement);
void start_statement(SessionState& session, const ast::Statement& statement);
// 1290 while the server has no data; require_data() is for statements that need a transaction.
Status require_initialized(const ServerContext& server);
// In Com_ and in the metrics.
void count_statement(SessionState& session, const ast::Statement& statement);
// commitd_after_commit_hook=statements, as MySQL once did: after_commit for whatever a client sends, though
// nothing was committed by it, and for a definition three times in all.
inline bool tells_of_statements(const SessionState& session) {
  const plugins::Observers* observers = session.server.observers;
  return observers != nullptr && observers->after_statements();
}
// Where it does.
void tell_of_statement(const SessionState& session, const ast::Statement& statement, bool has_committed);
// Of one that went well; its transaction has ended if it is to end with it.
void end_statement(SessionState& session, const ast::Statement& statement, Answer& answer, ResultSink& sink,
                   bool more_results);

}  // namespace commitd::sql

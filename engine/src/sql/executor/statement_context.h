// What the executor of one statement hands around.
#pragma once

#include <span>

#include "sql/bind/binder.h"
#include "sql/session_state.h"

namespace commitd::sql {

struct StatementContext {
  SessionState& session;
  std::span<const Value> parameters;
  Precomputed precomputed;
  bool describe_only = false;  // columns are wanted, no rows: for COM_STMT_PREPARE

  txn::Transaction& transaction() { return *session.transaction; }
  Binder binder(const Scope& scope) { return Binder(session, scope, parameters, precomputed); }
};

// 1317 when the statement was killed: asked in every loop over rows.
inline Status check_interrupted(const SessionState& session) {
  constexpr uint16_t kQueryInterruptedCode = 1317;
  if (session.interrupted()) return Error{kQueryInterruptedCode, "Query execution was interrupted"};
  return {};
}

}  // namespace commitd::sql

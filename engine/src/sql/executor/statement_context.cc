#include "sql/executor/statement_context.h"

#include "base/error_codes.h"

namespace commitd::sql {

Status check_interrupted(const SessionState& session) {
  if (session.interrupted()) return Error{er::kQueryInterrupted, "Query execution was interrupted"};
  return {};
}

}  // namespace commitd::sql

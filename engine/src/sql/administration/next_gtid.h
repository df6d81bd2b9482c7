// SET gtid_next = 'uuid:number': the next transaction is committed under that GTID, or left out when it has
// been executed already. mysqlbinlog's output relies on both.
#pragma once

#include "base/result.h"
#include "sql/ast/statement.h"
#include "sql/session_state.h"

namespace commitd::sql {

// Checks the value and takes it.
Status set_next_gtid(SessionState& session, std::string_view value);

enum class GtidVerdict : uint8_t { Execute, Skip };
// To be asked in front of each statement: error 1837 when its GTID has to be set anew.
Result<GtidVerdict> judge_by_next_gtid(SessionState& session, const ast::Statement& statement);
// Around each statement: it has used the GTID up when that has become the last one the session committed.
Gtid last_committed_gtid(const SessionState& session);
void note_used_gtid(SessionState& session, const Gtid& last_before);

}  // namespace commitd::sql

// What the log needs to know of tables in memory beside their row changes: that a restart emptied them, and
// what was in one that becomes durable.
#pragma once

#include "sql/ast/definitions.h"
#include "sql/ddl/ddl.h"
#include "sql/executor/statements.h"

namespace commitd::sql {

// A table in memory is empty after a restart; other servers still have its rows. Its first use on a server
// that takes writes logs a TRUNCATE, as in MySQL. 1412 when the session's transaction has the table open from
// before the server took writes.
bool rows_are_lost(const SessionState& session, std::string_view db, std::string_view table);
Task<Status> empty_if_rows_are_lost(SessionState& session, std::string_view db, std::string_view table);

// ALTER TABLE from memory to a durable engine, planned and under the session's locks. Logged as TRUNCATE, the
// ALTER (`logged`) of the empty table, and the rows: who executes it again, recovery above all, may not have
// them.
Task<Status> move_out_of_memory(SessionState& session, const ast::AlterTableStatement& statement,
                                std::string_view logged, const ddl::Effect& planned,
                                const ddl::Context& context);

}  // namespace commitd::sql

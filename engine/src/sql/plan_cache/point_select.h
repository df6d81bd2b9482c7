// A SELECT of one row by its primary key whose plan is kept: what most statements of a web application are.
#pragma once

#include "sql/plan_cache/cached_select.h"
#include "sql/result_sink.h"

namespace commitd::sql {

// Outside any transaction it needs no snapshot, no lock and no wait, so it is no coroutine either. False: it
// is none, or needs more than this; nothing was sent and nothing counted, and it is to be run like any other.
// `kept` has the parameters.
bool run_alone(SessionState& session, CachedSelect& kept, ResultSink& sink);

// In a transaction that is settled, with the table's lock: its row, behind the columns. False: it is none, or
// needs more than this, and nothing was sent.
Task<Result<bool>> run_point(StatementContext& context, CachedSelect& kept, ResultSink& sink);

}  // namespace commitd::sql

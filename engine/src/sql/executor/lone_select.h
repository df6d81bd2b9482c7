// A SELECT of one row by its primary key, outside any transaction, whose plan is kept: what most statements
// of a web application are. It needs no snapshot, no lock and no wait, so it is no coroutine either.
#pragma once

#include "sql/executor/kept_select.h"
#include "sql/result_sink.h"

namespace commitd::sql {

// False: it is none, or needs more than this; nothing was sent and nothing counted, and it is to be run like
// any other. `kept` has the parameters.
bool run_alone(SessionState& session, KeptSelect& kept, ResultSink& sink);

}  // namespace commitd::sql

// The system variables that belong to the server's own options and state; those of sessions are in
// sql/variables.
#pragma once

#include "server/datadir.h"
#include "server/options.h"
#include "sql/server_context.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

// What options set and what the log takes at start.
void define_options(sql::SystemVariables& variables, const Options& options);
// server_uuid, datadir.
void define_identity(sql::SystemVariables& variables, const Datadir& datadir, const Options& options);
// What is computed: gtid_executed, read_only.
void define_state(sql::SystemVariables& variables, sql::ServerContext& context);

}  // namespace commitd::server

// The system variables that belong to the server's own options and state; those of sessions are in
// sql/variables.
#pragma once

#include "server/datadir.h"
#include "server/options.h"
#include "sql/server_context.h"
#include "sql/variables/system_variables.h"
#include "wire/server_limits.h"
#include "wire/tls/tls_context.h"

namespace commitd::server {

// What options set and what the log takes at start.
void define_options(sql::SystemVariables& variables, const Options& options);
// What the protocol reads with every login.
void define_idle_spin(sql::SystemVariables& variables);
void define_limits(sql::SystemVariables& variables, std::shared_ptr<wire::ServerLimits> limits);
// What TLS is set up from, at start and at every reload.
void define_tls(sql::SystemVariables& variables, std::function<bool()> is_offered);
wire::TlsSettings tls_settings(const sql::SystemVariables& variables);
// How commitlab_operator and commitlab_replication must connect.
void define_built_in_accounts(sql::SystemVariables& variables, sql::Accounts& accounts);
// server_uuid, datadir.
void define_identity(sql::SystemVariables& variables, const Datadir& datadir, const Options& options);
// What is computed: gtid_executed.
void define_state(sql::SystemVariables& variables, sql::ServerContext& context);

}  // namespace commitd::server

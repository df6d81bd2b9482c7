// System variables of the log's files: size, expiry, checkpoints, gtid_purged.
#pragma once

#include "sql/server_context.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

void define_binlog_variables(sql::SystemVariables& variables, sql::ServerContext& context);

}  // namespace commitd::server

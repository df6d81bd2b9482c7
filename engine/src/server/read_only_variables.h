// read_only and super_read_only: what was SET, and what the role says.
#pragma once

#include <functional>

#include "replication/read_only.h"
#include "sql/server_context.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

// `changed` is told both whenever one is SET.
void define_read_only(sql::SystemVariables& variables, const sql::ServerContext& context,
                      replication::ReadOnlyWish& wish,
                      std::function<void(bool read_only, bool super)> changed);

}  // namespace commitd::server

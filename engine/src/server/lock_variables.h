// System variables of the lock manager: how deadlocks are looked for.
#pragma once

#include "sql/server_context.h"
#include "sql/variables/system_variables.h"
#include "txn/lock_manager.h"

namespace commitd::server {

// `context` must outlive the variables; what is SET reaches its lock manager at once.
void define_lock_variables(sql::SystemVariables& variables, sql::ServerContext& context);

// As the variables stand, for a lock manager that is about to be made. Error 1231 for a detector that the
// thread model does not allow.
Result<txn::LockManager::Options> lock_options(const sql::SystemVariables& variables);

}  // namespace commitd::server

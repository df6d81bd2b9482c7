// How a replica applies what it has received: replica_parallel_…, replica_preserve_commit_order and
// replica_transaction_retries.
#pragma once

#include <memory>

#include "commit/commit_settings.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

void define_applier_variables(sql::SystemVariables& variables,
                              std::shared_ptr<binlog::CommitSettings> settings);

}  // namespace commitd::server

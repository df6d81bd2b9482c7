// commitd_max_replica_lag: how far a replica may fall behind before writers are slowed.
#pragma once

#include <functional>
#include <memory>

#include "replication/lag_throttle.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

// Values go to `limit`; then `changed` is called.
void define_max_replica_lag(sql::SystemVariables& variables, std::shared_ptr<replication::LagLimit> limit,
                            std::function<void()> changed);

}  // namespace commitd::server

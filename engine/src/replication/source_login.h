// How a replica logs in at its source: address, account, and what protects both.
#pragma once

#include "sql/instance_control.h"
#include "wire/client.h"

namespace commitd::replication {

// Reads the files that the options name: those of each connection, since certificates are replaced. The
// deadline is the caller's.
Result<wire::ClientOptions> login_at(const sql::FollowTarget& source);

}  // namespace commitd::replication

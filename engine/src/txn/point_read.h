// The one row that an autocommitted SELECT reads: no snapshot, no locks, no transaction to begin and to end.
#pragma once

#include <string>

#include "txn/transaction.h"

namespace commitd::txn {

enum class PointRead : uint8_t { Found, NotThere, DefinitionMayChange };

// Into `stored` what the engine has under a clustered key now. That is what a snapshot taken now would show:
// nothing is in the engine that is not acknowledged. A second read would need a snapshot. When a definition
// may be changing, `stored` means nothing: the row must be read in a transaction, under the table's lock.
Result<PointRead> read_alone(Services& services, std::string_view clustered_key, std::string& stored);

}  // namespace commitd::txn

// Where the rows of a FEDERATED table are: what its CONNECTION says, or the server of CREATE SERVER that it
// names.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sql/catalog.h"
#include "storage/federated/connection_string.h"

namespace commitd::sql {

// Error 1477 for a server that is not there; `malformed` (1432, 1433) for what leads to no table.
Result<storage::RemoteTable> remote_address(const Catalog& catalog, const TableDef& table,
                                            uint16_t malformed);

}  // namespace commitd::sql

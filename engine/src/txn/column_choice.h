// Which columns a scan need not decode.
#pragma once

#include <vector>

#include "txn/transaction.h"

namespace commitd::txn {

// From now on next() may set only these columns of FoundRow::values, and nothing else of the row. `columns`
// must stay for as long as the cursor is used; see WantedColumns.
void decode_only(Cursor& cursor, const std::vector<bool>& columns);

}  // namespace commitd::txn

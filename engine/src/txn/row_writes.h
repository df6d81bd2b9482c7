// The engine entries of a row: the one place that knows which keys a row has (beside put_row, erase_row and
// replace_row of transaction.h).
#pragma once

#include <string>
#include <string_view>

#include "storage/record/row_image.h"
#include "storage/record/table_def.h"
#include "storage/write_set.h"

namespace commitd::txn {

// One secondary index's entry: for CREATE INDEX on a table that has rows.
void put_index_entry(WriteSet& writes, const TableDef& table, const IndexDef& index, const Row& row,
                     std::string_view clustered_key);

// Of a table without a primary key.
uint64_t row_id_of(std::string_view clustered_key);
inline bool is_provisional(uint64_t row_id) {
  return (row_id & kProvisionalRowId) != 0;
}

// The AUTO_INCREMENT value that must follow this row's; 0 when the row says nothing about it.
uint64_t next_after(const TableDef& table, const Row& row);

}  // namespace commitd::txn

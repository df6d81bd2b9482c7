// Keys that order bytewise as their values do: index id, the key columns, and what makes the key unique.
//   clustered      [index id][primary key columns]            → stored_row
//   hidden row id  [index id][row id, 8 bytes big-endian]     → stored_row
//   unique         [index id][columns]                        → 'V', clustered suffix
//   not unique     [index id][columns][clustered suffix]      → 'K', length of the suffix in 2 bytes (also
//   unique, when a column is NULL)
// The clustered suffix is the clustered key without its index id. String columns carry their collation's sort
// weights; the row itself is always read from the clustered index.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/value.h"
#include "storage/record/table_def.h"

namespace commitd {

void append_index_id(std::string& key, uint32_t index_id);
// One key column; `value` may be NULL (orders first).
void append_key_column(std::string& key, const ColumnDef& column, const IndexColumn& part,
                       const Value& value);
// Index id and the given values for the first values.size() columns of the index: a whole key, or a prefix to
// search by.
std::string index_key_prefix(const TableDef& table, const IndexDef& index, std::span<const Value> values);

std::string clustered_key(const TableDef& table, std::span<const Value> row, uint64_t hidden_row_id);
std::string_view clustered_suffix(std::string_view clustered_key);
std::string secondary_key(const TableDef& table, const IndexDef& index, std::span<const Value> row,
                          std::string_view clustered_suffix);
// The value beside a secondary key: how to get to the row.
std::string secondary_value(bool suffix_in_key, std::string_view clustered_suffix);
// The clustered key that a secondary entry refers to; empty when the entry is damaged.
std::string clustered_key_of_entry(const TableDef& table, std::string_view key, std::string_view value);
// True when the key of this row in this unique index must be unique (no NULL in it).
bool enforces_uniqueness(const TableDef& table, const IndexDef& index, std::span<const Value> row);

// The least key greater than every key that starts with `prefix` (empty = no such key).
std::string prefix_end(std::string_view prefix);

}  // namespace commitd

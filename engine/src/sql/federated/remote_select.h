// What is asked of the server that has a FEDERATED table's rows, as SQL text that every MySQL-protocol server
// takes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/federated/connection_string.h"
#include "storage/record/table_def.h"
#include "txn/transaction.h"

namespace commitd::sql {

// Which columns are asked for, in order: of those wanted, as far as the list goes (nullopt: all), and one at
// least.
std::vector<size_t> remote_columns(const TableDef& table, const std::optional<std::vector<bool>>& wanted);

// Rows within any of the ranges of the index, as the other server compares; it may give more. No ranges: all.
std::string remote_select(const TableDef& table, const storage::RemoteTable& at,
                          std::span<const size_t> columns, const IndexDef& index,
                          std::span<const txn::IndexRange> ranges);

}  // namespace commitd::sql

// Rows of FEDERATED tables, read from where they are. A statement keeps each answer until it ends, within the
// memory budget (1038): nothing else can be asked over a connection before its answer is read.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/executor/statement_context.h"
#include "sql/federated/remote_address.h"
#include "txn/transaction.h"

namespace commitd::sql {

inline bool is_remote(const TableDef& table) {
  return storage::engine_of(table).remote;
}
Status require_writable(const TableDef& table);  // 1036

// The text that is asked, and how its answer is to be read.
struct RemoteQuestion {
  RemoteQuestion(const Catalog& catalog, const TableDef& asked,
                 const std::optional<std::vector<bool>>& wanted, const IndexDef& index,
                 std::span<const txn::IndexRange> ranges);
  const TableDef& table;
  Result<storage::RemoteTable> at;
  std::vector<size_t> columns;
  std::string select;
};

struct RemoteAnswer {
  std::string select;
  std::vector<Row> rows;
  MemoryReservation memory{MemoryUse::Rows};
};

Task<Status> ask_remote(StatementContext& context, const RemoteQuestion& question, RemoteAnswer& answer);
Task<Result<std::shared_ptr<const std::vector<Row>>>> all_remote_rows(StatementContext& context,
                                                                      const TableDef& table);

}  // namespace commitd::sql

#include "sql/change/changes_beside.h"

#include "base/error_codes.h"
#include "sql/executor/statements.h"
#include "sql/variables/system_variables.h"
#include "storage/engine_router.h"
#include "storage/record/row_image.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

// About what an index entry takes.
constexpr uint64_t kIndexEntry = 100;

}  // namespace

Status OneKindOfTable::add(const TableDef& table) {
  const bool transactional = storage::engine_of(table).transactional;
  if (transactional_.value_or(transactional) != transactional) {
    return make_error(er::kGtidUnsafeNonTransactionalTable,
                      "Statement violates GTID consistency: Updates to non-transactional tables can only be "
                      "done in either autocommitted statements or single-statement transactions, and never "
                      "in the same statement as updates to transactional tables.");
  }
  transactional_ = transactional;
  return {};
}

ChangesBeside::ChangesBeside(SessionState& session)
    : session_(session), transaction_(*session.server.transactions, owner_) {
  owner_.set_connection(session.connection_id);
  owner_.set_statement(session.statement_text);
  begin_beside(session, transaction_);
  transaction_.begin_statement();
}

Status ChangesBeside::make_room(const TableDef& table, const Row& row) {
  storage::MemoryTables* memory = storage::tables_in_memory(*session_.server.engine);
  if (memory == nullptr) return {};
  std::string image;
  encode_row_image(table, row, image);
  growth_ += image.size() + table.indexes.size() * kIndexEntry;
  return memory->check_room(table, growth_, max_heap_table_size(session_));
}

// SET gtid_next is for what is committed first.
void ChangesBeside::take_next_gtid() {
  NextGtid& next = session_.next_gtid;
  if (next.gtid.empty() || next.used) return;
  transaction_.commit_under(next.gtid);
  session_.transaction->commit_under({});
  next.used = true;
}

Task<Status> ChangesBeside::commit() {
  transaction_.end_statement();
  const bool changed = transaction_.has_writes();
  if (changed) take_next_gtid();
  Status status = co_await transaction_.commit();
  if (changed && status.ok()) session_.rollback_is_incomplete = true;
  co_return status;
}

}  // namespace commitd::sql

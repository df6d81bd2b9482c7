// What the executor of one statement hands around.
#pragma once

#include <span>

#include "base/memory_budget.h"
#include "sql/bind/binder.h"
#include "sql/change/changes_beside.h"
#include "sql/executor/statements.h"
#include "sql/executor/turn.h"
#include "sql/session_state.h"
#include "storage/table_engines.h"

namespace commitd::sql {

class CachedPlan;

struct StatementContext {
  SessionState& session;
  std::span<const Value> parameters;
  Precomputed precomputed;
  MemoryReservation memory{MemoryUse::Rows};  // of the rows it keeps
  Turn turn = {};
  bool entered = false;                          // the session's transaction takes part
  bool describe_only = false;                    // columns are wanted, no rows: for COM_STMT_PREPARE
  const ast::SelectStatement* answer = nullptr;  // the SELECT whose rows the client gets: sql_select_limit
  std::vector<Source> common_tables = {};        // WITH, the innermost last
  bool changes = false;                          // INSERT, UPDATE, DELETE
  bool strict = false;                           // changes rows: see Evaluation
  CachedPlan* kept = nullptr;                    // of a prepared statement: its plan is to be kept there

  // Its changes of tables that are not transactional.
  std::unique_ptr<ChangesBeside> beside = {};
  OneKindOfTable changed_kind = {};

  // Before the first table: opens the transaction if need be, and the statement in it.
  void enter() {
    if (entered) return;
    entered = true;
    begin_if_needed(session);
    session.transaction->begin_statement();
    if (changes) session.transaction->see_newest();
  }
  // Shared, if nobody is in the way of it; then the statement has entered.
  bool lock_now(std::string_view table_lock_key) {
    enter();
    return session.server.transactions->locks.try_lock(session.lock_owner, table_lock_key,
                                                       txn::LockMode::Shared);
  }
  txn::Transaction& transaction() { return *session.transaction; }
  // Where a table is changed, and its rows are locked.
  txn::Transaction& transaction_for(const TableDef& table) {
    if (storage::engine_of(table).transactional) return transaction();
    if (beside == nullptr) beside = std::make_unique<ChangesBeside>(session);
    return beside->transaction();
  }
  // 1114 when a table in memory has no room for a row that is to be put into it.
  Status make_room(const TableDef& table, const Row& row) {
    if (!storage::engine_of(table).in_memory) return {};
    (void)transaction_for(table);
    return beside->make_room(table, row);
  }
  Evaluation evaluation() { return Evaluation(session, strict); }
  Binder binder(const Scope& scope) {
    Binder binder(session, scope, parameters, precomputed);
    binder.parameters_stay = kept != nullptr;
    return binder;
  }
};

// In every loop over rows that may wait: lets others of the reactor go first when its turn is over. 1317 when
// the statement was killed, 3024 when its time is over.
inline Turn::Step take_turn(StatementContext& context) {
  return context.turn.take(context.session);
}

// 1317 when the statement was killed: where it waits for something else.
Status check_interrupted(const SessionState& session);

}  // namespace commitd::sql

// Reads the rows of a FROM clause: nested loops over its tables, each by its access path.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sql/bind/scope.h"
#include "sql/executor/statement_context.h"
#include "sql/query/access_path.h"
#include "sql/query/from_clause.h"

namespace commitd::sql {

// One table of the join, in order.
struct JoinLevel {
  const Source* source = nullptr;
  size_t number = 0;  // of the source
  AccessPath path;
  std::vector<const Expression*> match;  // what its rows must fulfil to join
  // What snapshot scans decode, read_columns.h; nullopt: all.
  std::optional<std::vector<bool>> read_columns = {};
  std::vector<size_t> begins,
      ends;  // nests that do so here: begins from the outermost, ends from the innermost
};

struct JoinPlan {
  std::vector<JoinLevel> levels;
  std::vector<JoinNest> nests;
  // Per nest: conditions from outside on its rows, checked when a match or the row of NULLs is there.
  std::vector<std::vector<const Expression*>> filters;
  txn::ReadMode mode = txn::ReadMode::Snapshot;
  txn::LockedRows locked_rows = txn::LockedRows::Wait;
  bool reads_past_locks = false;    // where the isolation level allows it
  uint64_t most_rows = UINT64_MAX;  // that may be looked at: 1104 at the next one
};

struct BoundCondition {
  ExpressionPtr expression;
  int nest = -1;
};

// Chooses the order of the tables, distributes conjuncts over them and chooses access paths.
enum class TableOrder : uint8_t { Written, Chosen };
JoinPlan plan_join(const Scope& scope, const std::vector<JoinNest>& nests,
                   const std::vector<BoundCondition>& on, const Expression* where, txn::ReadMode mode,
                   TableOrder order = TableOrder::Written);

// Counts how the plan gets at its tables: Select_scan, Select_full_join, Select_range.
void count_paths(const JoinPlan& plan, StatusCounters& status);

// What happens with each joined row. False: enough, stop.
class RowConsumer {
 public:
  virtual ~RowConsumer() = default;
  virtual Result<bool> consume(Evaluation& evaluation, txn::FoundRow* last) = 0;
  virtual bool wants_flush() const { return false; }
  virtual Task<Status> flush() { co_return Status(); }
};

// `found` (may be null) has the present row of each table of the engine while the consumer is called.
Task<Status> read_rows(StatementContext& context, const JoinPlan& plan, Evaluation& evaluation,
                       RowConsumer& consumer, std::vector<txn::FoundRow>* found = nullptr);

}  // namespace commitd::sql

// Reads the rows of a FROM clause: nested loops over its tables, each by its access path.
#pragma once

#include <memory>
#include <vector>

#include "sql/bind/scope.h"
#include "sql/executor/access_path.h"
#include "sql/executor/statement_context.h"

namespace commitd::sql {

// One table of the join, in order.
struct JoinLevel {
  const Source* source = nullptr;
  AccessPath path;
  bool outer = false;                     // LEFT JOIN
  std::vector<const Expression*> match;   // ON (and, for inner joins, WHERE): decides whether a row joins
  std::vector<const Expression*> filter;  // WHERE of an outer join's table: after rows of NULLs are made up
};

struct JoinPlan {
  std::vector<JoinLevel> levels;
  txn::ReadMode mode = txn::ReadMode::Snapshot;
};

// Distributes conjuncts over the tables and chooses access paths. `on[i]` (may be null) belongs to source i.
JoinPlan plan_join(const Scope& scope, const Expression* where, const std::vector<ExpressionPtr>& on,
                   const std::vector<bool>& outer, txn::ReadMode mode);

// What happens with each joined row. False: enough, stop.
class RowConsumer {
 public:
  virtual ~RowConsumer() = default;
  virtual Result<bool> consume(Evaluation& evaluation, txn::FoundRow* last) = 0;
  virtual bool wants_flush() const { return false; }
  virtual Task<Status> flush() { co_return Status(); }
};

Task<Status> read_rows(StatementContext& context, const JoinPlan& plan, Evaluation& evaluation,
                       RowConsumer& consumer);

}  // namespace commitd::sql

// The rows that an UPDATE or DELETE of several tables is about: a join, read with locks, of which some tables
// are changed when it has been read to its end.
#pragma once

#include <memory>

#include <absl/container/flat_hash_set.h>

#include "sql/ast/select.h"
#include "sql/query/bound_select.h"

namespace commitd::sql {

struct BoundJoin {
  std::unique_ptr<BoundSelect> bound;
  Expressions values;  // null pointers for DEFAULT
};

// Opens the tables (SELECT privilege) and binds what is evaluated for each joined row.
Task<Result<BoundJoin>> bind_join(StatementContext& context, const ast::List<ast::TableRef>& from,
                                  const ast::List<ast::Expr*>& values, const ast::Expr* where);

// That table `source` may be changed: 1288 for one that is no table, 1142, 1099.
Status require_target(StatementContext& context, const BoundJoin& join, size_t source, Privileges needed,
                      std::string_view command);

// Reads all joined rows; `found` has the present row of each table while the consumer is called.
Task<Status> read_joined(StatementContext& context, const BoundJoin& join, Evaluation& evaluation,
                         RowConsumer& consumer, std::vector<txn::FoundRow>& found);

// The rows of one table that have been part of a joined row.
class JoinedRows {
 public:
  using Seen = absl::flat_hash_set<std::string>;
  // `seen` may be shared: a row then counts once, under whatever names its table is joined.
  explicit JoinedRows(size_t source, std::shared_ptr<Seen> seen = std::make_shared<Seen>())
      : source_(source), seen_(std::move(seen)) {}
  size_t source() const { return source_; }
  // False for one that was there before, and where the inner side of an outer join has none.
  bool is_new(const Evaluation& evaluation, const std::vector<txn::FoundRow>& found) {
    return evaluation.rows[source_] != nullptr && seen_->insert(found[source_].clustered_key).second;
  }

 private:
  size_t source_;
  std::shared_ptr<Seen> seen_;
};

}  // namespace commitd::sql

// What an UPDATE makes of the rows of one table: its assignments, and the rules that a changed row obeys.
#pragma once

#include <vector>

#include "sql/change/row_checks.h"
#include "sql/change/row_rules.h"
#include "sql/expression/byte_literal.h"

namespace commitd::sql {

// Bound once, for any number of rows.
class RowAssignments {
 public:
  struct Assignment {
    size_t column;
    ExpressionPtr value;  // a null pointer assigns the column's DEFAULT
  };

  Status open(SessionState& session, TablePtr table) {
    table_ = std::move(table);
    return checks_.bind(session, table_);
  }
  void add(size_t column, ExpressionPtr value) {
    if (value) value = for_column(table_->columns[column], std::move(value));
    all_.push_back({column, std::move(value)});
  }

  const std::vector<Assignment>& all() const { return all_; }
  bool has(size_t column) const;
  const TablePtr& table() const { return table_; }
  const RowChecks& checks() const { return checks_; }

 private:
  TablePtr table_;
  RowChecks checks_;
  std::vector<Assignment> all_;
};

class RowUpdate {
 public:
  // `assignments` live longer.
  RowUpdate(StatementContext& context, const RowAssignments& assignments, bool ignore)
      : context_(context),
        assignments_(assignments),
        ignore_(ignore),
        store_(store_context(context.session, ignore)) {
    store_.table = assignments.table()->name;
  }

  // Makes the assignments in `row`, which stands for table number `source` of the evaluation meanwhile: each
  // sees the effect of those before it.
  Status assign(Evaluation& evaluation, size_t source, Row& row);
  // Replaces the old row, unless both are the same.
  Task<Status> store(const txn::FoundRow& old_row, Row& row);

  uint64_t changed() const { return changed_; }
  // Messages number the rows from 1.
  void next_row() { ++store_.row; }

 private:
  StatementContext& context_;
  const RowAssignments& assignments_;
  const bool ignore_;
  StoreContext store_;
  uint64_t changed_ = 0;
};

}  // namespace commitd::sql

// What an UPDATE makes of the rows of one table: its assignments, and the rules that a changed row obeys.
#pragma once

#include <vector>

#include "sql/executor/row_checks.h"
#include "sql/executor/row_rules.h"
#include "sql/expression/byte_literal.h"

namespace commitd::sql {

class RowUpdate {
 public:
  RowUpdate(StatementContext& context, bool ignore)
      : context_(context), ignore_(ignore), store_(store_context(context.session, ignore)) {}

  Status open(TablePtr table) {
    table_ = std::move(table);
    store_.table = table_->name;
    return checks_.bind(context_.session, table_);
  }
  // A null pointer assigns the column's DEFAULT.
  void add(size_t column, ExpressionPtr value) {
    if (value) value = for_column(table_->columns[column], std::move(value));
    assignments_.push_back({column, std::move(value)});
  }

  // Makes the assignments in `row`, which stands for table number `source` of the evaluation meanwhile: each
  // sees the effect of those before it.
  Status assign(Evaluation& evaluation, size_t source, Row& row);
  // Replaces the old row, unless both are the same.
  Task<Status> store(const txn::FoundRow& old_row, Row& row);

  const TablePtr& table() const { return table_; }
  uint64_t changed() const { return changed_; }
  // Messages number the rows from 1.
  void next_row() { ++store_.row; }

 private:
  struct Assignment {
    size_t column;
    ExpressionPtr value;
  };
  bool is_assigned(size_t column) const;

  StatementContext& context_;
  const bool ignore_;
  StoreContext store_;
  TablePtr table_;
  RowChecks checks_;
  std::vector<Assignment> assignments_;
  uint64_t changed_ = 0;
};

}  // namespace commitd::sql

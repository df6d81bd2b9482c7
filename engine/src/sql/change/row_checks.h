// CHECK constraints of a table, bound for the rows that one statement writes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sql/arena.h"
#include "sql/bind/binder.h"
#include "sql/session_state.h"

namespace commitd::sql {

class RowChecks {
 public:
  Status bind(SessionState& session, TablePtr table);
  // 3819 for the first constraint that is false; NULL is no violation.
  Status verify(std::span<const Value> row) const;

 private:
  struct Bound {
    const CheckDef* definition;
    ExpressionPtr condition;
  };
  SessionState* session_ = nullptr;
  TablePtr table_;
  std::unique_ptr<Arena> arena_;    // the bound expressions point into it
  std::vector<std::string> texts_;  // and the trees in it into these
  std::vector<Bound> bound_;
};

}  // namespace commitd::sql

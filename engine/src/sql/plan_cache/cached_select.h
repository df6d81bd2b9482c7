// The plan of a prepared SELECT that is kept, and its columns described.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/ast/select.h"
#include "sql/plan_cache/cached_columns.h"
#include "sql/plan_cache/cached_plan.h"
#include "sql/query/select.h"
#include "storage/record/wanted_columns.h"

namespace commitd::sql {

class CachedSelect : public CachedPlan {
 public:
  static std::unique_ptr<CachedSelect> of(const ast::Statement& statement);
  explicit CachedSelect(const ast::SelectStatement& select) : select_(select) {}

  const ast::SelectStatement& select() const { return select_; }
  void keep(const SessionState& session, PlannedSelect planned);
  PlannedSelect& planned() { return planned_; }
  CachedColumns& columns() { return columns_; }
  // It reads one row by its primary key, without a lock.
  bool is_point() const { return is_point_; }
  // Of a point: what is decoded of its row; nullopt: all.
  const std::optional<WantedColumns>& wanted_columns() const { return wanted_columns_; }

  // Memory of the execution that runs, kept for the next if it is little.
  struct Buffers {
    std::string stored;
    Row row, output;
    txn::FoundRow found;
    std::vector<Value> key;
  };
  Buffers& buffers() { return buffers_; }
  void shrink();

 private:
  const ast::SelectStatement& select_;
  PlannedSelect planned_;
  CachedColumns columns_;
  bool is_point_ = false;
  std::optional<WantedColumns> wanted_columns_;  // refers to the table of the plan
  Buffers buffers_;
};

}  // namespace commitd::sql

// The second half of a SELECT: grouping, HAVING, projection, DISTINCT, ORDER BY, LIMIT.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "base/memory_budget.h"
#include "sql/query/bound_select.h"
#include "sql/query/kept_rows.h"
#include "sql/result_sink.h"

namespace commitd::sql {

// `ordered`: rows already come in the order of ORDER BY.
class SelectOutput : public RowConsumer {
 public:
  SelectOutput(StatementContext& context, const BoundSelect& select, ResultSink& sink, bool ordered);

  Result<bool> consume(Evaluation& evaluation, txn::FoundRow* last) override;
  bool wants_flush() const override { return sink_.wants_flush(); }
  Task<Status> flush() override { return sink_.flush(); }

  Task<Status> finish(Evaluation& evaluation);  // groups and sorted rows
  uint64_t found_rows() const { return found_; }

 private:
  struct Group {
    std::vector<Row> rows;     // the first row of each source, for columns that are not aggregated
    std::vector<bool> absent;  // rows of NULLs of outer joins
    std::vector<std::unique_ptr<AggregateState>> states;
  };
  // A part of ORDER BY: a select item, or a key behind them.
  struct SortKey {
    const Expression* expression = nullptr;  // null: a select item
    size_t at = 0;                           // in a kept row
    uint16_t collation = 0;
    bool descending = false;
  };

  Result<Group*> group_of(Evaluation& evaluation);
  Group new_group(Evaluation* evaluation);
  Result<bool> emit(Evaluation& evaluation);  // one row before DISTINCT
  std::span<const Value> project(Evaluation& evaluation);
  bool deliver(std::span<const Value> row);  // one row behind ORDER BY; false: LIMIT is reached
  Result<bool> is_new(std::span<const Value> row);
  bool sorts_by_every_item() const;
  Result<bool> drop_kept_duplicates();
  SortKey sort_key(const BoundOrder& order);
  Result<bool> keep(std::span<const Value> row, Evaluation& evaluation);  // until all are sorted
  bool before(const Value* left, const Value* right) const;
  Task<Result<std::vector<const Value*>>> in_order() const;

  const BoundSelect& select_;
  StatementContext& context_;
  ResultSink& sink_;
  const bool sorting_;
  const ColumnReference* const in_place_;  // where the select items begin in a row that needs no copying
  absl::flat_hash_map<std::string, size_t> group_index_;
  std::vector<Group> groups_;
  absl::flat_hash_set<std::string> distinct_;
  std::vector<SortKey> sort_keys_;
  // DISTINCT of few rows that are sorted by all that is in them: equal ones will stand side by side.
  bool neighbours_tell_ = false;
  size_t kept_width_ = 0;  // select items, then the keys that are none of them
  KeptRows kept_;
  std::string distinct_key_;
  Row projected_;
  uint64_t found_ = 0, delivered_ = 0;
  MemoryReservation memory_{MemoryUse::Rows};
};

bool before(std::span<const Value> left, std::span<const Value> right, std::span<const uint16_t> collations,
            const std::vector<bool>& descending);

}  // namespace commitd::sql

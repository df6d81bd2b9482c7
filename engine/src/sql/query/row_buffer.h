// A result kept in memory: of subqueries, derived tables, the parts of a UNION, INSERT … SELECT.
#pragma once

#include <optional>
#include <vector>

#include "base/memory_budget.h"
#include "sql/result_sink.h"
#include "sql/row_memory.h"
#include "storage/record/row_image.h"

namespace commitd::sql {

class RowBuffer : public ResultSink {
 public:
  explicit RowBuffer(bool all_digits = false) : all_digits_(all_digits) {}
  bool wants_all_digits() const override { return all_digits_; }
  void begin_rows(std::span<const ResultColumn> described) override {
    columns.assign(described.begin(), described.end());
  }
  void row(std::span<const Value> values) override {
    rows.emplace_back(values.begin(), values.end());
    full_ = full_ || !memory_.add(memory_of(values));
  }
  // Who makes the rows asks between them: too many end the statement there.
  bool wants_flush() const override { return full_; }
  Task<Status> flush() override {
    if (full_) co_return out_of_row_memory();
    co_return Status();
  }
  void end_rows(const OkInfo&) override {}
  void ok(const OkInfo&) override {}
  void error(const Error& failed) override { failure = failed; }

  std::vector<ResultColumn> columns;
  std::vector<Row> rows;
  std::optional<Error> failure;

 private:
  MemoryReservation memory_{MemoryUse::Rows};
  bool full_ = false;
  bool all_digits_;
};

}  // namespace commitd::sql

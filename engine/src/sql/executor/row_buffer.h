// A result kept in memory: of subqueries, derived tables, the parts of a UNION, INSERT … SELECT.
#pragma once

#include <optional>
#include <vector>

#include "sql/result_sink.h"
#include "storage/record/row_image.h"

namespace commitd::sql {

class RowBuffer : public ResultSink {
 public:
  void begin_rows(std::span<const ResultColumn> described) override {
    columns.assign(described.begin(), described.end());
  }
  void row(std::span<const Value> values) override { rows.emplace_back(values.begin(), values.end()); }
  bool wants_flush() const override { return false; }
  Task<Status> flush() override { co_return Status(); }
  void end_rows(const OkInfo&) override {}
  void ok(const OkInfo&) override {}
  void error(const Error& failed) override { failure = failed; }

  std::vector<ResultColumn> columns;
  std::vector<Row> rows;
  std::optional<Error> failure;
};

}  // namespace commitd::sql

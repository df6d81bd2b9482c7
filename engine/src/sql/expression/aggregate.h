// Aggregate functions: one state per group, fed row by row.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sql/expression/expression.h"

namespace commitd::sql {

class AggregateState {
 public:
  virtual ~AggregateState() = default;
  virtual void add(Evaluation& evaluation) = 0;  // the current row
  virtual Value result() = 0;
};

// One call in the statement: COUNT(*), SUM(DISTINCT x) …
struct AggregateCall {
  enum class What : uint8_t {
    Count,
    Sum,
    Average,
    Minimum,
    Maximum,
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
    AnyValue,
    JsonArray,
    JsonObject,
    Deviation,
    Variance,
    SampleDeviation,
    SampleVariance
  } what;
  bool distinct = false;
  Expressions arguments;  // none: COUNT(*)
  std::string separator = ",";
  std::vector<std::pair<ExpressionPtr, bool>> order;  // GROUP_CONCAT: expression, descending
  uint64_t max_length = 1024;
  ValueType type;

  std::unique_ptr<AggregateState> start() const;
};

std::optional<AggregateCall::What> aggregate_named(std::string_view upper_name);
ValueType aggregate_type(AggregateCall::What what, const Expressions& arguments);

// The result of the call with this number, once the group is complete.
class AggregateReference : public Expression {
 public:
  AggregateReference(size_t number, ValueType type) : number_(number) {
    type_ = type;
    has_aggregate = true;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    if (evaluation.aggregates != nullptr) return evaluation.aggregates[number_];
    scratch = Value::null();
    return scratch;
  }

 private:
  size_t number_;
};

}  // namespace commitd::sql

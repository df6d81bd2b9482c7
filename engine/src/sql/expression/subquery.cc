#include "sql/expression/subquery.h"

#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/session_state.h"
#include "storage/record/column_format.h"

namespace commitd::sql {
namespace {

using ast::Op;

class OverRows : public Expression {
 public:
  explicit OverRows(std::shared_ptr<const RowSource> rows) : rows_(std::move(rows)) {
    sources = rows_->sources;
    has_aggregate = rows_->has_aggregate;
  }

 protected:
  std::shared_ptr<const RowSource> rows_;
};

// Of an ENUM or SET column it gives the text only, as in MySQL.
class ScalarSubquery : public OverRows {
 public:
  ScalarSubquery(std::shared_ptr<const RowSource> rows, bool several_are_null, size_t item)
      : OverRows(std::move(rows)), several_are_null_(several_are_null), item_(item) {
    type_ = rows_->types[item];
    type_.nullable = true;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    std::vector<Row> rows;
    scratch = Value::null();
    if (!rows_->read(evaluation, rows) || rows.empty()) return scratch;
    if (rows.size() == 1)
      scratch = std::move(rows[0][item_]);
    else if (several_are_null_)
      evaluation.session().diagnostics.warn(several_rows());
    else
      evaluation.fail(several_rows());
    return scratch;
  }

 private:
  bool several_are_null_;
  size_t item_;
};

class Exists : public OverRows {
 public:
  explicit Exists(RowSourcePtr rows) : OverRows(std::move(rows)) { type_ = ValueType::integer(1); }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    std::vector<Row> rows;
    rows_->read(evaluation, rows);
    scratch = Value::integer(!rows.empty());
    return scratch;
  }
};

class Quantified : public OverRows {
 public:
  Quantified(Op op, bool all, Expressions operands, RowSourcePtr rows)
      : OverRows(std::move(rows)), op_(op), all_(all), operands_(std::move(operands)) {
    type_ = ValueType::integer(1);
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (is_number(rows_->types[i])) operands_[i] = number_of_label(std::move(operands_[i]));
      labels_.push_back(is_number(operands_[i]->type()) ? rows_->labels[i] : nullptr);
      sources |= operands_[i]->sources;
      has_aggregate |= operands_[i]->has_aggregate;
      collations_.push_back(comparison_collation(operands_[i]->type(), rows_->types[i]));
    }
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    std::vector<Value> left;
    for (const ExpressionPtr& operand : operands_) left.push_back(operand->evaluate(evaluation, scratch));
    std::vector<Row> rows;
    scratch = Value::null();
    if (!rows_->read(evaluation, rows)) return scratch;
    const Truth decides = all_ ? Truth::False : Truth::True;
    bool unknown = false;
    for (const Row& row : rows) {
      const Truth t = compare_row(left, row);
      if (t == decides) {
        scratch = Value::integer(decides == Truth::True);
        return scratch;
      }
      unknown |= t == Truth::Unknown;
    }
    if (!unknown) scratch = Value::integer(all_);
    return scratch;
  }

 private:
  // Rows of several columns are compared for equality only.
  Truth compare_row(const std::vector<Value>& left, const Row& row) const {
    bool unknown = false;
    for (size_t i = 0; i < left.size(); ++i) {
      if (left[i].is_null() || row[i].is_null()) {
        unknown = true;
        continue;
      }
      const std::strong_ordering order =
          labels_[i] == nullptr
              ? compare_values(left[i], row[i], collations_[i])
              : compare_values(left[i], Value::unsigned_integer(label_number(*labels_[i], row[i])),
                               collations_[i]);
      if (!holds(order)) return Truth::False;
    }
    return unknown ? Truth::Unknown : Truth::True;
  }
  bool holds(std::strong_ordering order) const {
    switch (op_) {
      case Op::NotEqual:
        return order != 0;
      case Op::Less:
        return order < 0;
      case Op::LessEqual:
        return order <= 0;
      case Op::Greater:
        return order > 0;
      case Op::GreaterEqual:
        return order >= 0;
      default:
        return order == 0;
    }
  }

  Op op_;
  bool all_;
  Expressions operands_;
  std::vector<uint16_t> collations_;
  std::vector<const ColumnDef*> labels_;  // where a number stands beside
};

}  // namespace

ExpressionPtr make_scalar_subquery(std::shared_ptr<const RowSource> rows, bool several_are_null,
                                   size_t item) {
  return std::make_unique<ScalarSubquery>(std::move(rows), several_are_null, item);
}
Error several_rows() {
  return make_error(er::kSubqueryNo1Row, "Subquery returns more than 1 row");
}
ExpressionPtr make_exists(RowSourcePtr rows) {
  return std::make_unique<Exists>(std::move(rows));
}
ExpressionPtr make_quantified(Op op, bool all, Expressions operands, RowSourcePtr rows) {
  return std::make_unique<Quantified>(op, all, std::move(operands), std::move(rows));
}

}  // namespace commitd::sql

// ENUM and SET columns are texts but where a number is wanted, and in ORDER BY: there they are their label's
// number, or the labels' bits.
#include <algorithm>

#include "sql/expression/byte_literal.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

uint64_t number_of(const std::vector<std::string>& labels, std::string_view label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  return found == labels.end() ? 0 : static_cast<uint64_t>(found - labels.begin()) + 1;
}

uint64_t bits_of(const std::vector<std::string>& labels, std::string_view text) {
  uint64_t bits = 0;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (const uint64_t number = number_of(labels, text.substr(0, comma))) bits |= uint64_t{1} << (number - 1);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return bits;
}

class LabelNumber : public OneOperand {
 public:
  LabelNumber(ExpressionPtr column, const ColumnDef& definition)
      : OneOperand(std::move(column)), definition_(definition) {
    type_ = ValueType::integer(21, true);
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value& value = operand_->evaluate(evaluation, scratch);
    if (value.is_null()) return value;
    const bool set = definition_.type == FieldType::Set;
    scratch = Value::unsigned_integer(set ? bits_of(definition_.labels, value.as_string())
                                          : number_of(definition_.labels, value.as_string()));
    return scratch;
  }

 private:
  const ColumnDef& definition_;
};

}  // namespace

ExpressionPtr number_of_label(ExpressionPtr expression) {
  if (!has_labels_too(*expression)) return expression;
  const ColumnDef* definition = static_cast<const ColumnReference&>(*expression).definition();
  return std::make_unique<LabelNumber>(std::move(expression), *definition);
}

bool has_labels_too(const Expression& expression) {
  const auto* reference = dynamic_cast<const ColumnReference*>(&expression);
  return reference != nullptr && reference->definition() != nullptr &&
         has_labels(reference->definition()->type);
}

ExpressionPtr copy_of_operand(const Expression& expression) {
  if (const auto* column = dynamic_cast<const ColumnReference*>(&expression))
    return std::make_unique<ColumnReference>(*column);
  if (const auto* literal = dynamic_cast<const ByteLiteral*>(&expression))
    return std::make_unique<ByteLiteral>(*literal);
  const auto* constant = dynamic_cast<const Constant*>(&expression);
  return constant != nullptr ? std::make_unique<Constant>(*constant) : nullptr;
}

bool is_number(const ValueType& type) {
  return type.is_integer() || type.type == FieldType::NewDecimal || type.type == FieldType::Double ||
         type.type == FieldType::Float;
}

}  // namespace commitd::sql

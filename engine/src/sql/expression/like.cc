// LIKE.
#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "sql/expression/bit_text.h"
#include "sql/expression/collations.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

// Numbers with the digits that their type announces: 1/2 is 0.5000.
std::string_view text_of(const Value& value, const ValueType& type, std::string& scratch) {
  if (value.kind() == Value::Kind::String) return value.as_string();
  scratch = to_text(value, type);
  return scratch;
}

class Like : public Expression {
 public:
  Like(ExpressionPtr operand, ExpressionPtr pattern, char32_t escape, bool negated)
      : operand_(std::move(operand)),
        pattern_(std::move(pattern)),
        escape_(escape),
        negated_(negated),
        collation_(CommonCollation({operand_.get(), pattern_.get()}).collation()) {
    type_ = ValueType::boolean();
    inherit(*this, {operand_.get(), pattern_.get()});
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    Value operand_scratch, pattern_scratch;
    std::string operand_text, pattern_text;
    const Value& operand = operand_->evaluate(evaluation, operand_scratch);
    const Value& pattern = pattern_->evaluate(evaluation, pattern_scratch);
    if (operand.is_null() || pattern.is_null()) {
      scratch = Value::null();
      return scratch;
    }
    const bool matches = like_matches(text_of(operand, operand_->type(), operand_text),
                                      text_of(pattern, pattern_->type(), pattern_text), escape_, collation_);
    scratch = Value::integer(matches != negated_);
    return scratch;
  }

 private:
  ExpressionPtr operand_, pattern_;
  char32_t escape_;
  bool negated_;
  uint16_t collation_;
};

}  // namespace

bool like_matches(std::string_view text, std::string_view pattern, char32_t escape,
                  uint16_t collation_number) {
  const Collation& collation = collation_or_binary(collation_number);
  const bool bytes = collation.order == Order::Bytes;
  auto take = [bytes](std::string_view& from) -> char32_t {
    if (!bytes) return take_character(from);
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    return byte;
  };
  // Where to go on after a mismatch: behind the last %, one character later each time.
  std::string_view retry_pattern, retry_text;
  bool can_retry = false;
  for (;;) {
    bool matched = false;
    if (!pattern.empty()) {
      std::string_view rest = pattern;
      char32_t wanted = take(rest);
      if (wanted == U'%') {
        pattern = retry_pattern = rest;
        retry_text = text;
        can_retry = true;
        if (pattern.empty()) return true;
        continue;
      }
      const bool any = wanted == U'_';
      if (wanted == escape && !rest.empty()) wanted = take(rest);
      if (!text.empty()) {
        std::string_view text_rest = text;
        const char32_t found = take(text_rest);
        matched = any || found == wanted || (!bytes && weight(collation, found) == weight(collation, wanted));
        if (matched) {
          pattern = rest;
          text = text_rest;
        }
      }
    } else if (text.empty()) {
      return true;
    }
    if (matched) continue;
    if (!can_retry || retry_text.empty()) return false;
    take(retry_text);
    text = retry_text;
    pattern = retry_pattern;
  }
}

ExpressionPtr make_like(ExpressionPtr operand, ExpressionPtr pattern, char32_t escape, bool negated) {
  return std::make_unique<Like>(text_of_bits(std::move(operand)), text_of_bits(std::move(pattern)), escape,
                                negated);
}

}  // namespace commitd::sql

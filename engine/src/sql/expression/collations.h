// Which collation an operation on several texts goes by.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

// The collation of texts that meet in one operation: that of a COLLATE clause before that of a column before
// that of anything else; of those that are as strong, bytes and code points win, and the larger character
// set.
class CommonCollation {
 public:
  CommonCollation() = default;
  CommonCollation(std::initializer_list<const Expression*> operands) {
    for (const Expression* operand : operands) add(*operand);
  }
  void add(const Expression& operand) { add(operand.type()); }
  void add(const ValueType& type);

  uint16_t collation() const;
  bool undecided() const { return undecided_; }  // two that are as strong contradict each other

 private:
  std::optional<ValueType> strongest_;
  bool undecided_ = false;
};

// 1267 where they contradict each other.
std::optional<Error> illegal_mix(std::span<const Expression* const> operands, std::string_view operation);

}  // namespace commitd::sql

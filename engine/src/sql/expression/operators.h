// Operators as expressions.
#pragma once

#include "sql/ast/expression.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

ExpressionPtr make_comparison(ast::Op op, ExpressionPtr left, ExpressionPtr right);
ExpressionPtr make_logic(ast::Op op, ExpressionPtr left, ExpressionPtr right);  // AND, OR, XOR
ExpressionPtr make_not(ExpressionPtr operand);
ExpressionPtr make_arithmetic(ast::Op op, ExpressionPtr left, ExpressionPtr right, std::string source);
ExpressionPtr make_negation(ExpressionPtr operand);
ExpressionPtr make_bit_operation(ast::Op op, ExpressionPtr left,
                                 ExpressionPtr right);  // right may be null: ~
ExpressionPtr make_is_null(ExpressionPtr operand, bool negated);
ExpressionPtr make_truth_test(ExpressionPtr operand, bool expected, bool negated);
ExpressionPtr make_between(ExpressionPtr operand, ExpressionPtr low, ExpressionPtr high, bool negated);
ExpressionPtr make_in(ExpressionPtr operand, Expressions list, bool negated);
ExpressionPtr make_like(ExpressionPtr operand, ExpressionPtr pattern, char32_t escape, bool negated);
ExpressionPtr make_regexp(ExpressionPtr operand, ExpressionPtr pattern, bool negated);
// Operand (may be null), then WHEN/THEN pairs, then ELSE when there is one.
ExpressionPtr make_case(ExpressionPtr operand, Expressions branches, bool has_else);
ExpressionPtr make_cast(ExpressionPtr operand, const ast::Expr& target);
// CAST(… AS JSON): texts are parsed, TRUE and FALSE stay booleans.
ExpressionPtr make_json_cast(ExpressionPtr operand);
ExpressionPtr make_collate(ExpressionPtr operand, uint16_t collation);

bool like_matches(std::string_view text, std::string_view pattern, char32_t escape, uint16_t collation);
// One arithmetic operation; NULL for division by zero.
Value arithmetic(ast::Op op, const Value& left, const Value& right, Evaluation& evaluation,
                 std::string_view source);
// The bits of a number; a text counts as the integer that it begins with: '1e2' is 1 here.
uint64_t bit_operand(const Value& value);

// What planning wants to know of a predicate.
struct ComparisonParts {
  ast::Op op;
  const Expression* left;
  const Expression* right;
};
std::optional<ComparisonParts> comparison_parts(const Expression& expression);
struct InParts {
  const Expression* operand;
  const Expressions* list;
  uint16_t collation;  // of texts
};
std::optional<InParts> in_parts(const Expression& expression);
struct BetweenParts {
  const Expression* operand;
  const Expression* low;
  const Expression* high;
  uint16_t collation;  // of texts
};
std::optional<BetweenParts> between_parts(const Expression& expression);
const Expression* is_null_operand(const Expression& expression);  // x of `x IS NULL`
// Adds the operands of a tree of ANDs.
void split_conjunction(const Expression& expression, std::vector<const Expression*>& conjuncts);

bool is_number(const ValueType& type);
// Its label's number when the expression is an ENUM or SET column (labels.cc); else the expression.
ExpressionPtr number_of_label(ExpressionPtr expression);
// The same value, with a warning where a text is not wholly a number (text_numbers.cc). `type`: as messages
// name it, a literal.
ExpressionPtr numeric_text(ExpressionPtr expression, std::string_view type = "DOUBLE");

// A literal or parameter beside dates, or beside a column of integers: as what is there. 1525 for a text that
// is no date.
ExpressionPtr constant_beside(ExpressionPtr constant, const Expression& other);

// Where there is a number among them, those that are none become numbers (FIELD).
void numbers_beside_numbers(Expressions& expressions);

// The type that one column of several branches (CASE, COALESCE, UNION) has.
ValueType common_type(std::span<const ValueType> types);

}  // namespace commitd::sql

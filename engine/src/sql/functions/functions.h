// The functions of expressions: a table of name, number of arguments, type and body. Those that decide which
// arguments to evaluate (IF, COALESCE …) are expressions of their own in conditional.cc.
#pragma once

#include <span>
#include <string_view>

#include "sql/expression/expression.h"

namespace commitd::sql {

struct FunctionSpec {
  static constexpr int kAnyNumber = 255;

  std::string_view name;  // upper case
  int least, most;        // arguments
  // NULL for any NULL argument without calling the body.
  bool null_for_null;
  Value (*body)(Evaluation&, std::span<const Value>);
  ValueType (*type)(std::span<const ValueType>);
  // What constants among the arguments say about the type, where they say something: ROUND(x, 2), INTERVAL 1
  // HOUR.
  // (Number functions compute with all digits of a quotient, others with those that are shown.)
  void (*refine)(const Expressions& arguments, ValueType& type) = nullptr;
  bool takes_booleans = false;  // TRUE, FALSE and predicates arrive as JSON's true and false, not as 1 and 0
};

// Bytes that a function may give that makes longer texts of its arguments; beyond them it gives NULL and a
// warning (1301). Each one's result is looked at; those that could need much more memory for it ask before
// they make it.
uint64_t max_allowed_packet(Evaluation& evaluation);
Value too_long(Evaluation& evaluation, std::string_view function);

// Of GET_LOCK and its like: 3057 for what is no name of a lock.
Status check_lock_name(const Value& name);

std::span<const FunctionSpec> string_functions();
std::span<const FunctionSpec> number_functions();
std::span<const FunctionSpec> text_functions();
std::span<const FunctionSpec> regexp_functions();
std::span<const FunctionSpec> time_functions();
std::span<const FunctionSpec> date_arithmetic_functions();
std::span<const FunctionSpec> hash_functions();
std::span<const FunctionSpec> session_functions();
std::span<const FunctionSpec> json_creation_functions();
std::span<const FunctionSpec> json_inspection_functions();
std::span<const FunctionSpec> json_change_functions();

const FunctionSpec* find_function(std::string_view upper_name);
bool is_absent_function(std::string_view upper_name);  // of MySQL's, and none of ours
ExpressionPtr make_function(const FunctionSpec& spec, Expressions arguments);
ExpressionPtr make_seeded_random(ExpressionPtr seed);  // RAND(seed)

// IF, IFNULL, COALESCE, NULLIF; nullptr when the name is none of them.
ExpressionPtr make_conditional(std::string_view upper_name, Expressions& arguments);

// Digits behind the second of what an argument says; a text that is no constant may have six.
uint8_t second_digits(const Expression& argument);
// FunctionSpec::refine of functions whose time is as precise as their arguments.
void refine_second_digits(const Expressions& arguments, ValueType& type);

// Types that many functions have.
inline ValueType integer_type(std::span<const ValueType>) {
  return ValueType::integer();
}
inline ValueType boolean_type(std::span<const ValueType>) {
  return ValueType::boolean();
}
inline ValueType real_type(std::span<const ValueType>) {
  return ValueType::real();
}
inline ValueType datetime_type(std::span<const ValueType>) {
  return ValueType::datetime();
}
inline ValueType date_type(std::span<const ValueType>) {
  return {FieldType::Date, 63, 10, 0, false, true, ValueType::Strength::Weak};
}
inline ValueType text_type(std::span<const ValueType>) {
  return ValueType::text(255);
}

}  // namespace commitd::sql

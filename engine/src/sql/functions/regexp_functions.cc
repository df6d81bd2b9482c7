// REGEXP_LIKE, REGEXP_INSTR, REGEXP_SUBSTR, REGEXP_REPLACE.
#include <algorithm>

#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/regular_expression.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

// The arguments of one call; the optional ones have MySQL's defaults.
class Call {
 public:
  Call(Evaluation& evaluation, Values arguments, std::string_view name)
      : evaluation_(evaluation), arguments_(arguments), name_(name) {}

  std::string text(size_t argument) const { return to_text(arguments_[argument]); }
  int64_t number(size_t argument, int64_t otherwise) const {
    return argument < arguments_.size() ? static_cast<int64_t>(to_bits(arguments_[argument])) : otherwise;
  }
  // The pattern is the second argument of all of them. nullptr: the statement has failed.
  RegularExpression* compile(size_t match_type) {
    RegexpMode mode = RegexpMode::of(collation_or_binary(evaluation_.collation));
    if (match_type < arguments_.size() && !mode.refine(text(match_type))) {
      evaluation_.fail(make_error(er::kWrongArguments, "Incorrect arguments to {}", name_));
      return nullptr;
    }
    auto compiled = RegularExpression::get(text(1), mode, evaluation_);
    if (compiled.ok()) return *compiled;
    evaluation_.fail(std::move(compiled).error());
    return nullptr;
  }
  // Whether there is such a match; also false when the statement has failed.
  bool find(RegularExpression& expression, int64_t position, int64_t occurrence) {
    auto found = expression.find(text(0), position, std::max<int64_t>(occurrence, 1));
    if (found.ok()) return *found;
    evaluation_.fail(std::move(found).error());
    return false;
  }

 private:
  Evaluation& evaluation_;
  Values arguments_;
  std::string_view name_;
};

Value regexp_like(Evaluation& evaluation, Values a) {
  Call call(evaluation, a, "regexp_like");
  RegularExpression* expression = call.compile(2);
  if (expression == nullptr) return Value::null();
  return Value::integer(call.find(*expression, 1, 1));
}

Value regexp_instr(Evaluation& evaluation, Values a) {
  Call call(evaluation, a, "regexp_instr");
  const int64_t return_option = call.number(4, 0);
  if (return_option != 0 && return_option != 1) {
    evaluation.fail(make_error(er::kWrongArguments,
                               "Incorrect arguments to regexp_instr: return_option must be 1 or 0."));
    return Value::null();
  }
  RegularExpression* expression = call.compile(5);
  if (expression == nullptr) return Value::null();
  if (!call.find(*expression, call.number(2, 1), call.number(3, 1))) return Value::integer(int64_t{0});
  return Value::integer(return_option == 0 ? expression->begin_of_match() : expression->end_of_match());
}

Value regexp_substr(Evaluation& evaluation, Values a) {
  Call call(evaluation, a, "regexp_substr");
  RegularExpression* expression = call.compile(4);
  if (expression == nullptr || !call.find(*expression, call.number(2, 1), call.number(3, 1)))
    return Value::null();
  return Value::string(expression->match(), a[0].is_binary());
}

Value regexp_replace(Evaluation& evaluation, Values a) {
  Call call(evaluation, a, "regexp_replace");
  RegularExpression* expression = call.compile(5);
  if (expression == nullptr) return Value::null();
  const int64_t occurrence = call.number(4, 0);
  auto replaced =
      expression->replace(call.text(0), call.text(2), call.number(3, 1), occurrence < 0 ? 1 : occurrence);
  if (replaced.ok()) return Value::string(std::move(*replaced), a[0].is_binary());
  evaluation.fail(std::move(replaced).error());
  return Value::null();
}

ValueType truth(Types) {
  return ValueType::boolean();
}
ValueType position(Types) {
  return ValueType::integer(11);
}
// As long as its first argument, at most.
ValueType part(Types types) {
  return ValueType::text(types[0].length, types[0].is_string() ? types[0].collation : uint16_t{45});
}
ValueType long_text(Types types) {
  ValueType type = part(types);
  type.length = UINT32_MAX / 4;
  type.type = FieldType::LongBlob;
  return type;
}

constexpr FunctionSpec kFunctions[] = {
    {"REGEXP_LIKE", 2, 3, true, regexp_like, truth},
    {"REGEXP_INSTR", 2, 6, true, regexp_instr, position},
    {"REGEXP_SUBSTR", 2, 5, true, regexp_substr, part},
    {"REGEXP_REPLACE", 3, 6, true, regexp_replace, long_text},
};

}  // namespace

std::span<const FunctionSpec> regexp_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

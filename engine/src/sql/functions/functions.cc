#include "sql/functions/functions.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

namespace commitd::sql {
namespace {

class FunctionCall : public Expression {
 public:
  FunctionCall(const FunctionSpec& spec, Expressions arguments)
      : spec_(spec), arguments_(std::move(arguments)) {
    std::vector<ValueType> types;
    for (const ExpressionPtr& argument : arguments_) {
      types.push_back(argument->type());
      sources |= argument->sources;
      has_aggregate |= argument->has_aggregate;
    }
    type_ = spec.type(types);
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    absl::InlinedVector<Value, 4> values;
    Value argument_scratch;
    for (const ExpressionPtr& argument : arguments_) {
      values.push_back(argument->evaluate(evaluation, argument_scratch));
      if (spec_.null_for_null && values.back().is_null()) {
        scratch = Value::null();
        return scratch;
      }
    }
    scratch = spec_.body(evaluation, {values.data(), values.size()});
    return scratch;
  }

 private:
  const FunctionSpec& spec_;
  Expressions arguments_;
};

absl::flat_hash_map<std::string_view, const FunctionSpec*> all_functions() {
  absl::flat_hash_map<std::string_view, const FunctionSpec*> all;
  for (const auto& group :
       {string_functions(), number_functions(), time_functions(), hash_functions(), session_functions()}) {
    for (const FunctionSpec& spec : group) all[spec.name] = &spec;
  }
  return all;
}

}  // namespace

const FunctionSpec* find_function(std::string_view upper_name) {
  static const auto functions = all_functions();
  const auto found = functions.find(upper_name);
  return found == functions.end() ? nullptr : found->second;
}

ExpressionPtr make_function(const FunctionSpec& spec, Expressions arguments) {
  return std::make_unique<FunctionCall>(spec, std::move(arguments));
}

}  // namespace commitd::sql

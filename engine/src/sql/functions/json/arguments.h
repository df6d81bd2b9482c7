// The arguments of JSON functions, read with the errors that MySQL gives for wrong ones.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/json/node.h"
#include "base/json/path.h"
#include "sql/expression/json_value.h"

namespace commitd::sql {

class JsonArguments {
 public:
  JsonArguments(std::string_view function, Evaluation& evaluation, std::span<const Value> values)
      : function_(function), evaluation_(evaluation), values_(values) {}

  size_t size() const { return values_.size(); }
  const Value& operator[](size_t i) const { return values_[i]; }
  bool any_null() const;

  // A document or the text of one (3141, 3144, 3146). An empty result means that the evaluation failed.
  std::optional<json::Node> document(size_t i);
  // Any value: texts are strings.
  json::Node value(size_t i) const;
  std::optional<json::Path> path(size_t i);       // 3143
  std::optional<json::Path> tame_path(size_t i);  // 3149 for one with wildcards
  std::optional<bool> wants_all(size_t i);        // 'one' or 'all' (3154)

  std::nullopt_t fail(Error error);
  Value result(const json::Node& node) { return json_value(node, evaluation_); }

 private:
  std::string_view function_;
  Evaluation& evaluation_;
  std::span<const Value> values_;
};

}  // namespace commitd::sql

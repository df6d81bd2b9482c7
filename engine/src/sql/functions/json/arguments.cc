#include "sql/functions/json/arguments.h"

#include <algorithm>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/expression/conversion.h"

namespace commitd::sql {
namespace {}  // namespace

std::nullopt_t JsonArguments::fail(Error error) {
  evaluation_.fail(std::move(error));
  return std::nullopt;
}

bool JsonArguments::any_null() const {
  return std::any_of(values_.begin(), values_.end(), [](const Value& value) { return value.is_null(); });
}

std::optional<json::Node> JsonArguments::document(size_t i) {
  const Value& value = values_[i];
  if (value.kind() == Value::Kind::Json) return json_of(value);
  if (value.kind() != Value::Kind::String) {
    return fail(make_error(er::kInvalidTypeForJson,
                           "Invalid data type for JSON data in argument {} to function {}; a JSON string or "
                           "JSON type is required.",
                           i + 1, lower_case(function_)));
  }
  auto parsed = parse_json_argument(value, i + 1, lower_case(function_));
  if (!parsed.ok()) return fail(std::move(parsed).error());
  return json_of(*parsed);
}

json::Node JsonArguments::value(size_t i) const {
  return json_of(values_[i]);
}

std::optional<json::Path> JsonArguments::path(size_t i) {
  std::string scratch;
  auto parsed = json::parse_path(text_view(values_[i], scratch));
  if (!parsed.ok()) return fail(std::move(parsed).error());
  return *std::move(parsed);
}

std::optional<json::Path> JsonArguments::tame_path(size_t i) {
  auto parsed = path(i);
  if (parsed && parsed->is_wild()) {
    return fail(make_error(er::kInvalidJsonPathWildcard,
                           "In this situation, path expressions may not contain the * and ** tokens or an "
                           "array range."));
  }
  return parsed;
}

std::optional<bool> JsonArguments::wants_all(size_t i) {
  const std::string text = lower_case(to_text(values_[i]));
  if (text == "all") return true;
  if (text == "one") return false;
  return fail(make_error(er::kJsonBadOneOrAllArg,
                         "The oneOrAll argument to {} may take these values: 'one' or 'all'.",
                         lower_case(function_)));
}

}  // namespace commitd::sql

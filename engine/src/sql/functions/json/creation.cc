// Functions that make documents, and those between documents and texts.
#include "base/error_codes.h"
#include "base/json/binary.h"
#include "base/json/errors.h"
#include "base/json/text.h"
#include "sql/expression/conversion.h"
#include "sql/functions/functions.h"
#include "sql/functions/json/arguments.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

Value json_array(Evaluation& evaluation, Values a) {
  json::Array elements;
  for (const Value& value : a) elements.push_back(json_of(value));
  return json_value(json::Node(std::move(elements)), evaluation);
}

Value json_object(Evaluation& evaluation, Values a) {
  if (a.size() % 2 != 0) {
    evaluation.fail(make_error(er::kWrongParamcountToNativeFct,
                               "Incorrect parameter count in the call to native function 'JSON_OBJECT'"));
    return Value::null();
  }
  json::Object members;
  for (size_t i = 0; i < a.size(); i += 2) {
    if (a[i].is_null()) {
      evaluation.fail(json::null_key());
      return Value::null();
    }
    members[to_text(a[i])] = json_of(a[i + 1]);
  }
  return json_value(json::Node(std::move(members)), evaluation);
}

Value json_quote(Evaluation&, Values a) {
  return Value::string(json::quoted(to_text(a[0])));
}

// A text that begins and ends with quotes is a JSON string; any other is taken as it is.
Value json_unquote(Evaluation& evaluation, Values a) {
  if (a[0].kind() == Value::Kind::Json) return Value::string(json::unquoted_text(json_of(a[0])));
  const std::string text = to_text(a[0]);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return Value::string(text);
  json::TextProblem problem;
  const auto parsed = json::parse(text, &problem);
  if (parsed) return Value::string(json::unquoted_text(*parsed));
  evaluation.fail(problem.in_argument(1, "json_unquote"));
  return Value::null();
}

Value json_pretty(Evaluation& evaluation, Values a) {
  const auto document = JsonArguments("JSON_PRETTY", evaluation, a).document(0);
  return document ? Value::string(json::to_pretty_text(*document)) : Value::null();
}

Value json_storage_size(Evaluation& evaluation, Values a) {
  const auto document = JsonArguments("JSON_STORAGE_SIZE", evaluation, a).document(0);
  if (!document) return Value::null();
  const auto binary = json::encode(*document);
  return binary.ok() ? Value::integer(static_cast<int64_t>(binary->size())) : Value::null();
}

Value json_valid(Evaluation&, Values a) {
  if (a[0].kind() == Value::Kind::Json) return Value::integer(1);
  const bool text = a[0].kind() == Value::Kind::String && !a[0].is_binary();
  return Value::integer(text && json::parse(a[0].as_string()).has_value());
}

// Merging keeps everything: members of both, arrays one behind the other.
json::Node preserving(json::Node left, json::Node right) {
  auto *into = left.get<json::Object>(), *from = right.get<json::Object>();
  if (into != nullptr && from != nullptr) {
    for (auto& [key, member] : *from) {
      const auto [at, added] = into->try_emplace(key);
      at->second = added ? std::move(member) : preserving(std::move(at->second), std::move(member));
    }
    return left;
  }
  json::Array all = json::to_array(std::move(left));
  for (json::Node& element : json::to_array(std::move(right))) all.push_back(std::move(element));
  return json::Node(std::move(all));
}

Value json_merge_preserve(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_MERGE_PRESERVE", evaluation, a);
  std::optional<json::Node> merged;
  for (size_t i = 0; i < a.size(); ++i) {
    auto document = arguments.document(i);
    if (!document) return Value::null();
    merged = merged ? preserving(*std::move(merged), *std::move(document)) : *std::move(document);
  }
  return arguments.result(*merged);
}

// RFC 7396: members of the right replace those of the left, its nulls remove them.
json::Node patched(json::Node left, json::Node right) {
  auto* changes = right.get<json::Object>();
  if (changes == nullptr) return right;
  if (left.get<json::Object>() == nullptr) left = json::Node(json::Object());
  auto& members = *left.get<json::Object>();
  for (auto& [key, change] : *changes) {
    if (change.is_null())
      members.erase(key);
    else
      members[key] = patched(std::move(members[key]), std::move(change));
  }
  return left;
}

// A NULL makes everything unknown until a document that is no object comes, which does not care what was
// before.
Value json_merge_patch(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_MERGE_PATCH", evaluation, a);
  std::optional<json::Node> merged;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].is_null()) {
      merged.reset();
      continue;
    }
    auto document = arguments.document(i);
    if (!document) return Value::null();
    if (i == 0 || document->get<json::Object>() == nullptr)
      merged = std::move(document);
    else if (merged)
      merged = patched(*std::move(merged), *std::move(document));
  }
  return merged ? arguments.result(*merged) : Value::null();
}

ValueType json_type(Types) {
  return ValueType::json();
}
ValueType long_text(Types) {
  return ValueType::text(UINT32_MAX / 4, 46);
}

constexpr int kAny = FunctionSpec::kAnyNumber;
constexpr FunctionSpec kFunctions[] = {
    {"JSON_ARRAY", 0, kAny, false, json_array, json_type, nullptr, true},
    {"JSON_OBJECT", 0, kAny, false, json_object, json_type, nullptr, true},
    {"JSON_QUOTE", 1, 1, true, json_quote, long_text},
    {"JSON_UNQUOTE", 1, 1, true, json_unquote, long_text},
    {"JSON_PRETTY", 1, 1, true, json_pretty, long_text},
    {"JSON_STORAGE_SIZE", 1, 1, true, json_storage_size, integer_type},
    {"JSON_VALID", 1, 1, true, json_valid, boolean_type},
    {"JSON_MERGE", 2, kAny, true, json_merge_preserve, json_type},
    {"JSON_MERGE_PRESERVE", 2, kAny, true, json_merge_preserve, json_type},
    {"JSON_MERGE_PATCH", 2, kAny, false, json_merge_patch, json_type},
};

}  // namespace

std::span<const FunctionSpec> json_creation_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

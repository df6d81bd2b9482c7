// Functions that look into documents.
#include <algorithm>

#include "base/error_codes.h"
#include "base/json/order.h"
#include "base/json/path.h"
#include "base/json/text.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/functions/functions.h"
#include "sql/functions/json/arguments.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

Value json_extract(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_EXTRACT", evaluation, a);
  const auto document = arguments.document(0);
  if (!document) return Value::null();
  json::Array found;
  bool several = a.size() > 2;
  for (size_t i = 1; i < a.size(); ++i) {
    const auto path = arguments.path(i);
    if (!path) return Value::null();
    several = several || path->is_wild();
    for (const json::Node* node : json::find_all(*document, *path)) found.push_back(*node);
  }
  if (found.empty()) return Value::null();
  return arguments.result(several ? json::Node(std::move(found)) : found.front());
}

bool contains(const json::Node& target, const json::Node& candidate);

bool any_contains(const json::Array& targets, const json::Node& candidate) {
  for (const json::Node& target : targets) {
    if (contains(target, candidate)) return true;
  }
  return false;
}

// An array contains the elements of another one, or what one of its elements contains; an object the members
// of another; a scalar its equal.
bool contains(const json::Node& target, const json::Node& candidate) {
  if (const auto* array = target.get<json::Array>()) {
    const auto* wanted = candidate.get<json::Array>();
    if (wanted == nullptr) return any_contains(*array, candidate);
    for (const json::Node& element : *wanted) {
      if (!any_contains(*array, element)) return false;
    }
    return true;
  }
  if (const auto* object = target.get<json::Object>()) {
    const auto* wanted = candidate.get<json::Object>();
    if (wanted == nullptr) return false;
    for (const auto& [key, member] : *wanted) {
      const auto found = object->find(key);
      if (found == object->end() || !contains(found->second, member)) return false;
    }
    return true;
  }
  return json::compare(target, candidate) == 0;
}

// What a function with an optional path works on: the document or the part of it that the path leads to.
// Empty when there is no such part, or the evaluation failed.
std::optional<json::Node> part(JsonArguments& arguments, size_t path_argument) {
  auto document = arguments.document(0);
  if (!document || arguments.size() <= path_argument) return document;
  const auto path = arguments.tame_path(path_argument);
  if (!path) return std::nullopt;
  json::Node* found = json::find(*document, *path);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Value json_contains(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_CONTAINS", evaluation, a);
  const auto candidate = arguments.document(1);
  if (!candidate) return Value::null();
  const auto target = part(arguments, 2);
  return target ? Value::integer(contains(*target, *candidate)) : Value::null();
}

Value json_contains_path(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_CONTAINS_PATH", evaluation, a);
  const auto document = arguments.document(0);
  if (!document) return Value::null();
  const auto all = arguments.wants_all(1);
  if (!all) return Value::null();
  for (size_t i = 2; i < a.size(); ++i) {
    const auto path = arguments.path(i);
    if (!path) return Value::null();
    const bool there = !json::find_all(*document, *path).empty();
    if (there != *all) return Value::integer(there);
  }
  return Value::integer(*all);
}

Value json_keys(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_KEYS", evaluation, a);
  const auto node = part(arguments, 1);
  const auto* object = node ? node->get<json::Object>() : nullptr;
  if (object == nullptr) return Value::null();
  json::Array keys;
  for (const auto& [key, member] : *object) keys.emplace_back(key);
  return arguments.result(json::Node(std::move(keys)));
}

Value json_length(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_LENGTH", evaluation, a);
  const auto node = part(arguments, 1);
  return node ? Value::integer(static_cast<int64_t>(json::length(*node))) : Value::null();
}

Value json_depth(Evaluation& evaluation, Values a) {
  const auto document = JsonArguments("JSON_DEPTH", evaluation, a).document(0);
  return document ? Value::integer(static_cast<int64_t>(json::depth(*document))) : Value::null();
}

Value json_type(Evaluation& evaluation, Values a) {
  if (a[0].is_null()) return Value::string("NULL");
  const auto document = JsonArguments("JSON_TYPE", evaluation, a).document(0);
  return document ? Value::string(std::string(json::type_name(*document))) : Value::null();
}

// Two arrays have an element in common, two objects a member, two scalars their value.
bool overlap(const json::Node& left, const json::Node& right) {
  const auto *l = left.get<json::Object>(), *r = right.get<json::Object>();
  if (l != nullptr && r != nullptr) {
    for (const auto& [key, member] : *l) {
      const auto found = r->find(key);
      if (found != r->end() && json::compare(member, found->second) == 0) return true;
    }
    return false;
  }
  for (const json::Node& element : json::to_array(left)) {
    for (const json::Node& other : json::to_array(right)) {
      if (json::compare(element, other) == 0) return true;
    }
  }
  return false;
}

Value json_overlaps(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_OVERLAPS", evaluation, a);
  const auto left = arguments.document(0);
  const auto right = arguments.document(1);
  return left && right ? Value::integer(overlap(*left, *right)) : Value::null();
}

// value MEMBER OF (array): the value is not parsed.
Value member_of(Evaluation& evaluation, Values a) {
  JsonArguments arguments("MEMBER OF", evaluation, a);
  auto document = arguments.document(1);
  if (!document) return Value::null();
  const json::Node value = arguments.value(0);
  for (const json::Node& element : json::to_array(*std::move(document))) {
    if (json::compare(value, element) == 0) return Value::integer(1);
  }
  return Value::integer(0);
}

// Collects the paths of the strings that match.
class Search {
 public:
  Search(std::string_view pattern, char32_t escape, bool all)
      : pattern_(pattern), escape_(escape), all_(all) {}

  // `part` is below the document's root, `path` leads to it.
  void visit(const json::Node& part, const std::string& path) {
    if (done()) return;
    if (const auto* text = part.get<std::string>()) {
      if (like_matches(*text, pattern_, escape_, kUtf8mb4Bin)) add(path);
    } else if (const auto* object = part.get<json::Object>()) {
      for (const auto& [key, member] : *object) visit(member, path + json::member_leg_text(key));
    } else if (const auto* array = part.get<json::Array>()) {
      for (size_t i = 0; i < array->size(); ++i) visit((*array)[i], fmt::format("{}[{}]", path, i));
    }
  }
  const std::vector<std::string>& found() const { return found_; }

 private:
  static constexpr uint16_t kUtf8mb4Bin = 46;

  bool done() const { return !all_ && !found_.empty(); }
  void add(const std::string& path) {
    if (std::find(found_.begin(), found_.end(), path) == found_.end()) found_.push_back(path);
  }

  std::string_view pattern_;
  char32_t escape_;
  bool all_;
  std::vector<std::string> found_;
};

// Visits every part of the document below `node` that is one of `wanted`, with the path that leads to it.
void visit_parts(const json::Node& node, const std::string& path,
                 const std::vector<const json::Node*>& wanted, Search& search) {
  if (std::find(wanted.begin(), wanted.end(), &node) != wanted.end()) return search.visit(node, path);
  if (const auto* object = node.get<json::Object>()) {
    for (const auto& [key, member] : *object)
      visit_parts(member, path + json::member_leg_text(key), wanted, search);
  } else if (const auto* array = node.get<json::Array>()) {
    for (size_t i = 0; i < array->size(); ++i)
      visit_parts((*array)[i], fmt::format("{}[{}]", path, i), wanted, search);
  }
}

// JSON_SEARCH(document, one or all, pattern[, escape character[, path …]])
Value json_search(Evaluation& evaluation, Values a) {
  if (a[0].is_null() || a[1].is_null() || a[2].is_null()) return Value::null();
  JsonArguments arguments("JSON_SEARCH", evaluation, a);
  const auto document = arguments.document(0);
  if (!document) return Value::null();
  const auto all = arguments.wants_all(1);
  if (!all) return Value::null();
  const std::string pattern = to_text(a[2]);
  const std::string escape = a.size() > 3 && !a[3].is_null() ? to_text(a[3]) : std::string("\\");
  if (escape.size() > 1) {
    arguments.fail(make_error(er::kWrongArguments, "Incorrect arguments to ESCAPE"));
    return Value::null();
  }
  Search search(pattern, escape.empty() ? U'\\' : static_cast<unsigned char>(escape[0]), *all);
  if (a.size() <= 4) search.visit(*document, "$");
  for (size_t i = 4; i < a.size(); ++i) {
    if (a[i].is_null()) return Value::null();
    const auto path = arguments.path(i);
    if (!path) return Value::null();
    visit_parts(*document, "$", json::find_all(*document, *path), search);
  }
  if (search.found().empty()) return Value::null();
  if (search.found().size() == 1) return arguments.result(json::Node(search.found().front()));
  json::Array paths;
  for (const std::string& path : search.found()) paths.emplace_back(path);
  return arguments.result(json::Node(std::move(paths)));
}

ValueType json_result(Types) {
  return ValueType::json();
}
ValueType type_name_text(Types) {
  return ValueType::text(51);
}

constexpr int kAny = FunctionSpec::kAnyNumber;
constexpr FunctionSpec kFunctions[] = {
    {"JSON_EXTRACT", 2, kAny, true, json_extract, json_result},
    {"JSON_CONTAINS", 2, 3, true, json_contains, boolean_type},
    {"JSON_CONTAINS_PATH", 3, kAny, true, json_contains_path, boolean_type},
    {"JSON_KEYS", 1, 2, true, json_keys, json_result},
    {"JSON_LENGTH", 1, 2, true, json_length, integer_type},
    {"JSON_DEPTH", 1, 1, true, json_depth, integer_type},
    {"JSON_TYPE", 1, 1, false, json_type, type_name_text},
    {"JSON_OVERLAPS", 2, 2, true, json_overlaps, boolean_type},
    {"JSON_SEARCH", 3, kAny, false, json_search, json_result},
    {"MEMBER OF", 2, 2, true, member_of, boolean_type, nullptr, true},
};

}  // namespace

std::span<const FunctionSpec> json_inspection_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

// Functions that give a changed copy of a document.
#include <algorithm>

#include "base/error_codes.h"
#include "base/json/path.h"
#include "sql/functions/functions.h"
#include "sql/functions/json/arguments.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

// The place of a cell in an array of this size when something is put there: behind the last element at most.
size_t insert_position(const json::ArrayIndex& index, size_t size) {
  if (!index.from_end) return std::min(index.number, size);
  return index.number >= size ? 0 : size - 1 - index.number;
}

// Adds what a path names that leads nowhere yet: a member of an object, or a cell beyond an array's ends;
// anything else becomes an array for it.
void add_at(json::Node& document, const json::Path& path, json::Node value) {
  json::Node* parent = json::find(document, path.parent());
  if (parent == nullptr) return;
  const json::PathLeg& leg = path.legs.back();
  if (leg.kind == json::PathLeg::Kind::Member) {
    if (auto* object = parent->get<json::Object>()) object->emplace(leg.key, std::move(value));
    return;
  }
  json::Array elements = json::to_array(std::move(*parent));
  const size_t at = insert_position(leg.first, elements.size());
  elements.insert(elements.begin() + static_cast<ptrdiff_t>(at), std::move(value));
  *parent = json::Node(std::move(elements));
}

// One function's way with one path and its value.
using Change = void (*)(json::Node& document, const json::Path& path, json::Node value);

void set_at(json::Node& document, const json::Path& path, json::Node value) {
  if (json::Node* found = json::find(document, path))
    *found = std::move(value);
  else
    add_at(document, path, std::move(value));
}

void insert_at(json::Node& document, const json::Path& path, json::Node value) {
  if (json::find(document, path) == nullptr) add_at(document, path, std::move(value));
}

void replace_at(json::Node& document, const json::Path& path, json::Node value) {
  if (json::Node* found = json::find(document, path)) *found = std::move(value);
}

void append_to(json::Node& document, const json::Path& path, json::Node value) {
  json::Node* found = json::find(document, path);
  if (found == nullptr) return;
  json::Array elements = json::to_array(std::move(*found));
  elements.push_back(std::move(value));
  *found = json::Node(std::move(elements));
}

void insert_into_array(json::Node& document, const json::Path& path, json::Node value) {
  json::Node* parent = json::find(document, path.parent());
  auto* array = parent == nullptr ? nullptr : parent->get<json::Array>();
  if (array == nullptr) return;
  const size_t at = insert_position(path.legs.back().first, array->size());
  array->insert(array->begin() + static_cast<ptrdiff_t>(at), std::move(value));
}

void remove_at(json::Node& document, const json::Path& path) {
  json::Node* parent = json::find(document, path.parent());
  if (parent == nullptr) return;
  const json::PathLeg& leg = path.legs.back();
  if (leg.kind == json::PathLeg::Kind::Member) {
    if (auto* object = parent->get<json::Object>()) object->erase(leg.key);
    return;
  }
  auto* array = parent->get<json::Array>();
  if (array == nullptr || leg.first.is_before(array->size()) ||
      leg.first.position(array->size()) >= array->size())
    return;
  array->erase(array->begin() + static_cast<ptrdiff_t>(leg.first.position(array->size())));
}

// (document, path, value, path, value …): NULL for a document or a path is NULL, for a value JSON's null.
Value changed(JsonArguments& arguments, Change change, bool cells_only = false) {
  if (arguments[0].is_null()) return Value::null();
  auto document = arguments.document(0);
  if (!document) return Value::null();
  for (size_t i = 1; i + 1 < arguments.size(); i += 2) {
    if (arguments[i].is_null()) return Value::null();
    const auto path = arguments.tame_path(i);
    if (!path) return Value::null();
    if (cells_only && (path->legs.empty() || path->legs.back().kind != json::PathLeg::Kind::Cell)) {
      arguments.fail(make_error(er::kInvalidJsonPathArrayCell,
                                "A path expression is not a path to a cell in an array."));
      return Value::null();
    }
    change(*document, *path, arguments.value(i + 1));
  }
  return arguments.result(*document);
}

bool has_pairs(JsonArguments& arguments, std::string_view function) {
  if (arguments.size() % 2 != 0) return true;
  arguments.fail(make_error(er::kWrongParamcountToNativeFct,
                            "Incorrect parameter count in the call to native function '{}'", function));
  return false;
}

Value changed_by(std::string_view function, Evaluation& evaluation, Values a, Change change,
                 bool cells_only = false) {
  JsonArguments arguments(function, evaluation, a);
  return has_pairs(arguments, function) ? changed(arguments, change, cells_only) : Value::null();
}

Value json_set(Evaluation& evaluation, Values a) {
  return changed_by("JSON_SET", evaluation, a, set_at);
}
Value json_insert(Evaluation& evaluation, Values a) {
  return changed_by("JSON_INSERT", evaluation, a, insert_at);
}
Value json_replace(Evaluation& evaluation, Values a) {
  return changed_by("JSON_REPLACE", evaluation, a, replace_at);
}
Value json_array_append(Evaluation& evaluation, Values a) {
  return changed_by("JSON_ARRAY_APPEND", evaluation, a, append_to);
}
Value json_array_insert(Evaluation& evaluation, Values a) {
  return changed_by("JSON_ARRAY_INSERT", evaluation, a, insert_into_array, true);
}

Value json_remove(Evaluation& evaluation, Values a) {
  JsonArguments arguments("JSON_REMOVE", evaluation, a);
  auto document = arguments.document(0);
  if (!document) return Value::null();
  for (size_t i = 1; i < a.size(); ++i) {
    const auto path = arguments.tame_path(i);
    if (!path) return Value::null();
    if (path->legs.empty()) {
      arguments.fail(
          make_error(er::kJsonVacuousPath, "The path expression '$' is not allowed in this context."));
      return Value::null();
    }
    remove_at(*document, *path);
  }
  return arguments.result(*document);
}

ValueType json_result(Types) {
  return ValueType::json();
}

constexpr int kAny = FunctionSpec::kAnyNumber;
constexpr FunctionSpec kFunctions[] = {
    {"JSON_SET", 3, kAny, false, json_set, json_result, nullptr, true},
    {"JSON_INSERT", 3, kAny, false, json_insert, json_result, nullptr, true},
    {"JSON_REPLACE", 3, kAny, false, json_replace, json_result, nullptr, true},
    {"JSON_ARRAY_APPEND", 3, kAny, false, json_array_append, json_result, nullptr, true},
    {"JSON_ARRAY_INSERT", 3, kAny, false, json_array_insert, json_result, nullptr, true},
    {"JSON_REMOVE", 2, kAny, true, json_remove, json_result},
};

}  // namespace

std::span<const FunctionSpec> json_change_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

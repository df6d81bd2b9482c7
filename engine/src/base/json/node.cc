#include "base/json/node.h"

#include <algorithm>

namespace commitd::json {
namespace {

std::string_view opaque_name(FieldType type) {
  switch (type) {
    case FieldType::TinyBlob:
    case FieldType::Blob:
    case FieldType::MediumBlob:
    case FieldType::LongBlob:
    case FieldType::VarChar:
    case FieldType::VarString:
    case FieldType::String:
      return "BLOB";
    case FieldType::Bit:
      return "BIT";
    default:
      return "OPAQUE";
  }
}

std::string_view temporal_name(Temporal::Kind kind) {
  switch (kind) {
    case Temporal::Kind::Date:
      return "DATE";
    case Temporal::Kind::Time:
      return "TIME";
    default:
      return "DATETIME";
  }
}

}  // namespace

size_t depth(const Node& node) {
  size_t deepest = 0;
  if (const auto* array = node.get<Array>()) {
    for (const Node& element : *array) deepest = std::max(deepest, depth(element));
  } else if (const auto* object = node.get<Object>()) {
    for (const auto& [key, member] : *object) deepest = std::max(deepest, depth(member));
  }
  return deepest + 1;
}

size_t length(const Node& node) {
  if (const auto* array = node.get<Array>()) return array->size();
  if (const auto* object = node.get<Object>()) return object->size();
  return 1;
}

std::string_view type_name(const Node& node) {
  static constexpr std::string_view kNames[] = {"NULL",   "BOOLEAN", "INTEGER", "UNSIGNED INTEGER",
                                                "DOUBLE", "DECIMAL", "STRING",  "",
                                                "",       "OBJECT",  "ARRAY"};
  if (const auto* temporal = node.get<Temporal>()) return temporal_name(temporal->kind);
  if (const auto* opaque = node.get<Opaque>()) return opaque_name(opaque->type);
  return kNames[node.content().index()];
}

Array to_array(Node node) {
  if (auto* array = node.get<Array>()) return std::move(*array);
  Array single;
  single.push_back(std::move(node));
  return single;
}

}  // namespace commitd::json

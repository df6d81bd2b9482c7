// A JSON document in memory, with the scalars that MySQL's has beyond the standard's: integers with and
// without sign, decimals, dates and times, and bytes of any other column type.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/value.h"

namespace commitd::json {

class Node;

// The order of members, in memory and in the binary form: shorter keys first, then by bytes.
struct KeyOrder {
  using is_transparent = void;
  bool operator()(std::string_view left, std::string_view right) const {
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  }
};

using Array = std::vector<Node>;
using Object = std::map<std::string, Node, KeyOrder>;

struct Opaque {
  FieldType type = FieldType::VarString;
  std::string bytes;
};

// Whether a variant has this type among its own; asked without a need for the types to be complete.
template <class T, class Variant>
inline constexpr bool is_alternative = false;
template <class T, class... Types>
inline constexpr bool is_alternative<T, std::variant<Types...>> = (std::is_same_v<T, Types> || ...);

class Node {
 public:
  using Content = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, Decimal, std::string,
                               Temporal, Opaque, Object, Array>;

  Node() : content_(nullptr) {}
  template <class T>
  requires is_alternative<T, Content>
  explicit Node(T content) : content_(std::in_place_type<T>, std::move(content)) {}

  const Content& content() const { return content_; }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&content_);
  }
  template <class T>
  T* get() {
    return std::get_if<T>(&content_);
  }
  bool is_null() const { return get<std::nullptr_t>() != nullptr; }
  bool is_container() const { return get<Object>() != nullptr || get<Array>() != nullptr; }

 private:
  Content content_;
};

// Levels a document may have (3157); it bounds every recursion over one.
inline constexpr size_t kMaxDepth = 100;

// 1 for a scalar or an empty container.
size_t depth(const Node& node);
// Members of an object, elements of an array, 1 for a scalar.
size_t length(const Node& node);
// What JSON_TYPE calls it.
std::string_view type_name(const Node& node);

// The array itself; anything else as an array of one element.
Array to_array(Node node);

}  // namespace commitd::json

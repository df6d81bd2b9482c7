// Paths into documents: $.name[0], $."a b"[last-1], $[1 to 3], $**.x, $.*
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/node.h"
#include "base/result.h"

namespace commitd::json {

struct ArrayIndex {
  size_t number = 0;
  bool from_end = false;  // "last", "last-2": counted from the last element

  // The place in an array of this size; what lies before its first element is cut to it when `begins` says
  // so.
  bool is_before(size_t size) const { return from_end && number >= size; }
  size_t position(size_t size) const { return from_end ? size - 1 - number : number; }
};

struct PathLeg {
  enum class Kind : uint8_t { Member, AnyMember, Cell, Range, AnyCell, Ellipsis } kind = Kind::Member;
  std::string key;
  ArrayIndex first, last;

  bool is_wild() const { return kind != Kind::Member && kind != Kind::Cell; }
  // A cell that a value which is no array has as well, as if it were an array of this one element.
  bool is_only_cell() const { return kind == Kind::Cell && first.number == 0; }
};

struct Path {
  std::vector<PathLeg> legs;

  bool is_wild() const;
  Path parent() const { return {{legs.begin(), legs.end() - 1}}; }
};

// 3143 with the place of the fault.
Result<Path> parse_path(std::string_view text);

// What the path leads to, in the document's order, nothing twice.
std::vector<const Node*> find_all(const Node& document, const Path& path);
// Of a path without wildcards: what it leads to, or nullptr.
Node* find(Node& document, const Path& path);

// The leg as a path writes it: .name, ."a b"
std::string member_leg_text(std::string_view key);

}  // namespace commitd::json

#include "base/json/path.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "base/error_codes.h"
#include "base/json/text.h"

namespace commitd::json {
namespace {

using Kind = PathLeg::Kind;

// Letters beyond ASCII count as letters, as in ECMAScript's identifiers.
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<uint8_t>(c) >= 0x80;
}
bool continues_name(char c) {
  return begins_name(c) || (c >= '0' && c <= '9');
}

class PathParser {
 public:
  explicit PathParser(std::string_view text) : text_(text) {}

  Result<Path> parse() {
    Path path;
    blanks();
    if (!take('$')) return fault(at_ + 1);
    for (blanks(); at_ < text_.size(); blanks()) {
      auto leg = next_leg();
      if (!leg) return fault(at_);
      path.legs.push_back(std::move(*leg));
    }
    if (!path.legs.empty() && path.legs.back().kind == Kind::Ellipsis) return fault(at_);
    return path;
  }

 private:
  static Error fault(size_t position) {
    return make_error(er::kInvalidJsonPath,
                      "Invalid JSON path expression. The error is around character position {}.", position);
  }
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::optional<PathLeg> next_leg() {
    if (take('.')) return member();
    if (take('[')) return cell();
    if (take_word("**")) {
      if (at_ < text_.size() && text_[at_] == '*') return std::nullopt;  // ***
      return PathLeg{Kind::Ellipsis, {}, {}, {}};
    }
    if (at_ < text_.size()) ++at_;
    return std::nullopt;
  }

  std::optional<PathLeg> member() {
    blanks();
    if (take('*')) return PathLeg{Kind::AnyMember, {}, {}, {}};
    if (at_ < text_.size() && text_[at_] == '"') return quoted_member();
    const size_t begin = at_;
    if (at_ >= text_.size() || !begins_name(text_[at_])) return std::nullopt;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return PathLeg{Kind::Member, std::string(text_.substr(begin, at_ - begin)), {}, {}};
  }

  std::optional<PathLeg> quoted_member() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (!take('"')) {
      at_ = std::min(at_, text_.size());
      return std::nullopt;
    }
    auto key = json::parse(text_.substr(begin, at_ - begin));
    if (!key || key->get<std::string>() == nullptr) return std::nullopt;
    return PathLeg{Kind::Member, std::move(*key->get<std::string>()), {}, {}};
  }

  std::optional<PathLeg> cell() {
    blanks();
    PathLeg leg{Kind::Cell, {}, {}, {}};
    if (take('*')) {
      leg.kind = Kind::AnyCell;
    } else {
      if (!index(leg.first)) return std::nullopt;
      const size_t behind = at_;
      blanks();
      if (behind != at_ && take_word("to")) {
        leg.kind = Kind::Range;
        const size_t begin = at_;
        blanks();
        if (begin == at_ || !index(leg.last)) return std::nullopt;
        if (!ascends(leg)) return std::nullopt;
      }
    }
    blanks();
    return take(']') ? std::optional(std::move(leg)) : std::nullopt;
  }

  // Bounds of one side only can be seen to be in order.
  static bool ascends(const PathLeg& leg) {
    if (leg.first.from_end != leg.last.from_end) return true;
    return leg.first.from_end ? leg.first.number >= leg.last.number : leg.first.number <= leg.last.number;
  }

  bool index(ArrayIndex& index) {
    if (take_word("last")) {
      index.from_end = true;
      const size_t behind = at_;
      blanks();
      if (!take('-')) {
        at_ = behind;
        return true;
      }
      blanks();
    }
    return number(index.number);
  }

  bool number(size_t& number) {
    uint32_t parsed = 0;
    const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), parsed);
    at_ = static_cast<size_t>(result.ptr - text_.data());
    number = parsed;
    return result.ec == std::errc();
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Goes one leg further from every place that is reached, so that a path costs its legs times the document's
// size.
class Finder {
 public:
  explicit Finder(const Node& document) : reached_{&document} {}

  void follow(const PathLeg& leg) {
    const std::vector<const Node*> from = std::move(reached_);
    reached_.clear();
    seen_.clear();
    twice_ = twice_ || leg.kind == Kind::Ellipsis;
    for (const Node* node : from) step(*node, leg);
  }
  std::vector<const Node*> take() { return std::move(reached_); }

 private:
  // Only behind ** do two ways lead to one place.
  bool add(const Node& node) {
    if (twice_ && !seen_.insert(&node).second) return false;
    reached_.push_back(&node);
    return true;
  }

  void step(const Node& node, const PathLeg& leg) {
    const auto* object = node.get<Object>();
    switch (leg.kind) {
      case Kind::Member:
        if (object == nullptr) return;
        if (const auto member = object->find(leg.key); member != object->end()) add(member->second);
        return;
      case Kind::Ellipsis:
        return add_with_descendants(node);
      case Kind::AnyMember:
        if (object != nullptr) for_each_child(node, [&](const Node& child) { add(child); });
        return;
      case Kind::AnyCell:
        if (object == nullptr) for_each_child(node, [&](const Node& child) { add(child); });
        return;
      case Kind::Cell:
      case Kind::Range:
        return cells(node, leg);
    }
  }

  void add_with_descendants(const Node& node) {
    if (add(node)) for_each_child(node, [&](const Node& child) { add_with_descendants(child); });
  }

  template <class Each>
  static void for_each_child(const Node& node, const Each& each) {
    if (const auto* array = node.get<Array>()) {
      for (const Node& element : *array) each(element);
    } else if (const auto* object = node.get<Object>()) {
      for (const auto& [key, member] : *object) each(member);
    }
  }

  // What is no array has one cell, itself.
  void cells(const Node& node, const PathLeg& leg) {
    const auto* array = node.get<Array>();
    const size_t size = array != nullptr ? array->size() : 1;
    const ArrayIndex& upper = leg.kind == Kind::Range ? leg.last : leg.first;
    if (size == 0 || upper.is_before(size)) return;
    const size_t begin = leg.first.is_before(size) ? 0 : leg.first.position(size);
    const size_t end = std::min(upper.position(size) + 1, size);
    for (size_t i = begin; i < end; ++i) add(array != nullptr ? (*array)[i] : node);
  }

  std::vector<const Node*> reached_;
  std::unordered_set<const Node*> seen_;
  bool twice_ = false;
};

}  // namespace

bool Path::is_wild() const {
  return std::any_of(legs.begin(), legs.end(), [](const PathLeg& leg) { return leg.is_wild(); });
}

Result<Path> parse_path(std::string_view text) {
  return PathParser(text).parse();
}

std::vector<const Node*> find_all(const Node& document, const Path& path) {
  Finder finder(document);
  for (const PathLeg& leg : path.legs) finder.follow(leg);
  return finder.take();
}

Node* find(Node& document, const Path& path) {
  const auto found = find_all(document, path);
  return found.empty() ? nullptr : const_cast<Node*>(found.front());
}

std::string member_leg_text(std::string_view key) {
  const bool name =
      !key.empty() && begins_name(key.front()) && std::all_of(key.begin(), key.end(), continues_name);
  return "." + (name ? std::string(key) : quoted(key));
}

}  // namespace commitd::json

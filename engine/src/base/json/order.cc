#include "base/json/order.h"

#include <algorithm>
#include <cmath>

#include "base/decimal.h"
#include "base/temporal.h"

namespace commitd::json {
namespace {

enum class Rank : uint8_t { Null, Number, String, Object, Array, Boolean, Date, Time, DateTime, Opaque };

Rank rank(const Node& node) {
  struct {
    Rank operator()(std::nullptr_t) const { return Rank::Null; }
    Rank operator()(bool) const { return Rank::Boolean; }
    Rank operator()(int64_t) const { return Rank::Number; }
    Rank operator()(uint64_t) const { return Rank::Number; }
    Rank operator()(double) const { return Rank::Number; }
    Rank operator()(const Decimal&) const { return Rank::Number; }
    Rank operator()(const std::string&) const { return Rank::String; }
    Rank operator()(const Temporal& t) const {
      return t.kind == Temporal::Kind::Date   ? Rank::Date
             : t.kind == Temporal::Kind::Time ? Rank::Time
                                              : Rank::DateTime;
    }
    Rank operator()(const Opaque&) const { return Rank::Opaque; }
    Rank operator()(const Object&) const { return Rank::Object; }
    Rank operator()(const Array&) const { return Rank::Array; }
  } of;
  return std::visit(of, node.content());
}

// Integers and decimals are exact; a double whose value is a whole number or a short fraction is too.
std::optional<Decimal> exact_number(const Node& node) {
  if (const auto* i = node.get<int64_t>()) return Decimal{*i, 0};
  if (const auto* u = node.get<uint64_t>()) return Decimal{static_cast<__int128>(*u), 0};
  if (const auto* d = node.get<Decimal>()) return *d;
  return parse_decimal(Value::real(*node.get<double>()).to_text());
}

double approximate_number(const Node& node) {
  if (const auto* d = node.get<double>()) return *d;
  return to_double(*exact_number(node));
}

std::strong_ordering compare_numbers(const Node& left, const Node& right) {
  const auto exact_left = exact_number(left), exact_right = exact_number(right);
  if (exact_left && exact_right) return commitd::compare(*exact_left, *exact_right);
  const double l = approximate_number(left), r = approximate_number(right);
  return l < r   ? std::strong_ordering::less
         : l > r ? std::strong_ordering::greater
                 : std::strong_ordering::equal;
}

std::strong_ordering compare_objects(const Object& left, const Object& right) {
  if (left.size() != right.size()) return left.size() <=> right.size();
  for (auto l = left.begin(), r = right.begin(); l != left.end(); ++l, ++r) {
    if (l->first != r->first)
      return KeyOrder{}(l->first, r->first) ? std::strong_ordering::less : std::strong_ordering::greater;
    if (const auto order = compare(l->second, r->second); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::strong_ordering compare_arrays(const Array& left, const Array& right) {
  return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end(),
                                                [](const Node& l, const Node& r) { return compare(l, r); });
}

void append_text(std::string& key, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  key.append(reinterpret_cast<const char*>(&size), sizeof size);
  key.append(text);
}

void append_number(std::string& key, const Node& node) {
  const auto exact = exact_number(node);
  std::string text = exact ? exact->to_string() : Value::real(approximate_number(node)).to_text();
  if (exact && exact->scale > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  append_text(key, text == "-0" ? "0" : text);
}

}  // namespace

std::strong_ordering compare(const Node& left, const Node& right) {
  const Rank kind = rank(left);
  if (kind != rank(right)) return kind <=> rank(right);
  switch (kind) {
    case Rank::Null:
      return std::strong_ordering::equal;
    case Rank::Number:
      return compare_numbers(left, right);
    case Rank::String:
      return *left.get<std::string>() <=> *right.get<std::string>();
    case Rank::Object:
      return compare_objects(*left.get<Object>(), *right.get<Object>());
    case Rank::Array:
      return compare_arrays(*left.get<Array>(), *right.get<Array>());
    case Rank::Boolean:
      return *left.get<bool>() <=> *right.get<bool>();
    case Rank::Date:
    case Rank::Time:
    case Rank::DateTime:
      return commitd::compare(*left.get<Temporal>(), *right.get<Temporal>());
    case Rank::Opaque:
      break;
  }
  const auto &l = *left.get<Opaque>(), &r = *right.get<Opaque>();
  return l.type != r.type ? l.type <=> r.type : l.bytes <=> r.bytes;
}

void append_key(std::string& key, const Node& node) {
  const Rank kind = rank(node);
  key.push_back(static_cast<char>(kind));
  if (kind == Rank::Number) return append_number(key, node);
  if (const auto* flag = node.get<bool>()) return key.push_back(*flag ? '\1' : '\0');
  if (const auto* text = node.get<std::string>()) return append_text(key, *text);
  if (const auto* t = node.get<Temporal>()) return append_text(key, std::to_string(pack(*t)));
  if (const auto* opaque = node.get<Opaque>()) {
    key.push_back(static_cast<char>(opaque->type));
    return append_text(key, opaque->bytes);
  }
  const uint64_t count = length(node);
  if (node.is_container()) key.append(reinterpret_cast<const char*>(&count), sizeof count);
  if (const auto* array = node.get<Array>()) {
    for (const Node& element : *array) append_key(key, element);
  } else if (const auto* object = node.get<Object>()) {
    for (const auto& [name, member] : *object) {
      append_text(key, name);
      append_key(key, member);
    }
  }
}

}  // namespace commitd::json

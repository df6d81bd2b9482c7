#include <algorithm>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

Value text(std::string value, const Value& like) {
  return Value::string(std::move(value), like.is_binary());
}

// Byte offset of the character with this number.
size_t character_offset(std::string_view value, int64_t characters, bool binary) {
  if (binary) return std::min<size_t>(value.size(), static_cast<size_t>(characters));
  return character_prefix(value, static_cast<size_t>(characters)).size();
}

int64_t length_of(std::string_view value, bool binary) {
  return static_cast<int64_t>(binary ? value.size() : character_count(value));
}

Value concat(Evaluation&, Values a) {
  std::string result;
  bool binary = false;
  for (const Value& v : a) {
    result += to_text(v);
    binary |= v.is_binary();
  }
  return Value::string(std::move(result), binary);
}

Value concat_ws(Evaluation& e, Values a) {
  if (a[0].is_null()) return Value::null();
  std::string result;
  bool first = true;
  for (const Value& v : a.subspan(1)) {
    if (v.is_null()) continue;
    if (!first) result += to_text(a[0]);
    result += to_text(v);
    first = false;
    if (result.size() > max_allowed_packet(e)) return too_long(e, "concat_ws");
  }
  return Value::string(std::move(result));
}

Value byte_length(Evaluation&, Values a) {
  return Value::integer(static_cast<int64_t>(to_text(a[0]).size()));
}
Value bit_length(Evaluation&, Values a) {
  return Value::integer(static_cast<int64_t>(to_text(a[0]).size() * 8));
}
Value char_length(Evaluation&, Values a) {
  return Value::integer(length_of(to_text(a[0]), a[0].is_binary()));
}

Value substring(Evaluation&, Values a) {
  const std::string value = to_text(a[0]);
  const bool binary = a[0].is_binary();
  const int64_t total = length_of(value, binary);
  int64_t start = to_int64(a[1]);
  if (start == 0 || start > total || start < -total) return text("", a[0]);
  start = start > 0 ? start - 1 : total + start;
  const int64_t count = a.size() > 2 ? std::clamp<int64_t>(to_int64(a[2]), 0, total - start) : total - start;
  const size_t begin = character_offset(value, start, binary);
  const size_t end = character_offset(value, start + count, binary);
  return text(value.substr(begin, end - begin), a[0]);
}

Value left(Evaluation&, Values a) {
  const std::string value = to_text(a[0]);
  const int64_t count = std::max<int64_t>(to_int64(a[1]), 0);
  return text(value.substr(0, character_offset(value, count, a[0].is_binary())), a[0]);
}

Value right(Evaluation&, Values a) {
  const std::string value = to_text(a[0]);
  const int64_t total = length_of(value, a[0].is_binary());
  const int64_t count = std::clamp<int64_t>(to_int64(a[1]), 0, total);
  return text(value.substr(character_offset(value, total - count, a[0].is_binary())), a[0]);
}

// Letters of ASCII, Latin-1, Greek and Cyrillic: what case mapping by a constant distance covers.
char32_t change_case(char32_t c, bool up) {
  auto in = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  if (up) {
    if (in('a', 'z') || (in(0xE0, 0xFE) && c != 0xF7) || in(0x3B1, 0x3C9) || in(0x430, 0x44F))
      return c == 0x3C2 ? 0x3A3 : c - 32;
    if (in(0x450, 0x45F)) return c - 80;
    if (in(0x100, 0x137) || in(0x14A, 0x177)) return c & ~char32_t{1};
  } else {
    if (in('A', 'Z') || (in(0xC0, 0xDE) && c != 0xD7) || in(0x391, 0x3A9) || in(0x410, 0x42F)) return c + 32;
    if (in(0x400, 0x40F)) return c + 80;
    if (in(0x100, 0x137) || in(0x14A, 0x177)) return c | 1;
  }
  return c;
}

Value mapped_case(const Value& v, bool up) {
  if (v.is_binary()) return v;
  const std::string value = to_text(v);
  std::string result;
  result.reserve(value.size());
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t c = take_character(rest);
    const char32_t changed = change_case(c, up);
    if (changed == c)
      result.append(before.substr(0, before.size() - rest.size()));
    else
      append_character(result, changed);
  }
  return Value::string(std::move(result));
}
Value upper(Evaluation&, Values a) {
  return mapped_case(a[0], true);
}
Value lower(Evaluation&, Values a) {
  return mapped_case(a[0], false);
}

// With bytes among its arguments it gives bytes. Where bytes are compared, NULL counts only if it would be
// put in.
Value replace(Evaluation& e, Values a) {
  if (a[0].is_null() || a[1].is_null()) return Value::null();
  const std::string value = to_text(a[0]), from = to_text(a[1]);
  const bool binary = a[0].is_binary() || a[1].is_binary() || a[2].is_binary();
  const Order order = collation_or_binary(e.collation).order;
  const bool compares_bytes = binary || order == Order::Bytes || order == Order::CodePoint;
  if (from.empty() || (compares_bytes && value.find(from) == std::string::npos))
    return Value::string(value, binary);
  if (a[2].is_null()) return Value::null();
  const std::string to = to_text(a[2]);
  std::string result;
  size_t at = 0;
  for (size_t found; (found = value.find(from, at)) != std::string::npos; at = found + from.size()) {
    result.append(value, at, found - at).append(to);
    if (result.size() > max_allowed_packet(e)) return too_long(e, "replace");
  }
  return Value::string(result.append(value, at), binary);
}

Value trimmed(Values a, bool front, bool back) {
  std::string value = to_text(a[0]);
  const std::string what = a.size() > 1 ? to_text(a[1]) : " ";
  if (what.empty()) return text(value, a[0]);
  std::string_view rest = value;
  while (front && rest.substr(0, what.size()) == what) rest.remove_prefix(what.size());
  while (back && rest.size() >= what.size() && rest.substr(rest.size() - what.size()) == what)
    rest.remove_suffix(what.size());
  return text(std::string(rest), a[0]);
}
Value trim(Evaluation&, Values a) {
  return trimmed(a, true, true);
}
Value trim_left(Evaluation&, Values a) {
  return trimmed(a, true, false);
}
Value trim_right(Evaluation&, Values a) {
  return trimmed(a, false, true);
}

Value repeat(Evaluation& e, Values a) {
  const std::string value = to_text(a[0]);
  const int64_t count = to_int64(a[1]);
  if (count <= 0 || value.empty()) return text("", a[0]);
  if (static_cast<uint64_t>(count) > max_allowed_packet(e) / value.size()) return too_long(e, "repeat");
  std::string result;
  result.reserve(value.size() * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result += value;
  return text(std::move(result), a[0]);
}

Value padded(Evaluation& e, Values a, bool at_left) {
  const std::string value = to_text(a[0]), pad = to_text(a[2]);
  const int64_t wanted = to_int64(a[1]);
  const bool binary = a[0].is_binary() || a[2].is_binary();
  if (wanted < 0) return Value::null();
  if (static_cast<uint64_t>(wanted) > max_allowed_packet(e)) return too_long(e, at_left ? "lpad" : "rpad");
  const int64_t length = length_of(value, binary);
  if (wanted <= length)
    return Value::string(value.substr(0, character_offset(value, wanted, binary)), binary);
  if (pad.empty()) return Value::null();
  std::string filling;
  const int64_t missing = wanted - length;
  for (int64_t i = 0; i < missing; i += length_of(pad, binary)) filling += pad;
  filling.resize(character_offset(filling, missing, binary));
  return Value::string(at_left ? filling + value : value + filling, binary);
}
Value lpad(Evaluation& e, Values a) {
  return padded(e, a, true);
}
Value rpad(Evaluation& e, Values a) {
  return padded(e, a, false);
}

Value reverse(Evaluation&, Values a) {
  const std::string value = to_text(a[0]);
  if (a[0].is_binary()) return text(std::string(value.rbegin(), value.rend()), a[0]);
  std::string result(value.size(), '\0');
  size_t end = result.size();
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view before = rest;
    take_character(rest);
    const size_t length = before.size() - rest.size();
    end -= length;
    result.replace(end, length, before.substr(0, length));
  }
  return text(std::move(result), a[0]);
}

Value locate_in(const Value& needle_value, const Value& text_value, int64_t from, uint16_t number) {
  const std::string needle = to_text(needle_value), value = to_text(text_value);
  const bool binary = needle_value.is_binary() || text_value.is_binary();
  if (from < 1 || from > length_of(value, binary) + 1) return Value::integer(0);
  Collation collation = collation_or_binary(binary ? kBinaryCollation : number);
  // As my_instr_mb: what is compared has as many bytes as what is looked for, and blanks at its end count.
  collation.pad_space = false;
  int64_t position = from;
  for (size_t at = character_offset(value, from - 1, binary); at + needle.size() <= value.size();
       ++position) {
    const std::string_view rest = std::string_view(value).substr(at);
    if (compare(collation, rest.substr(0, needle.size()), needle) == 0) return Value::integer(position);
    if (rest.empty()) break;
    at += character_offset(rest, 1, binary);
  }
  return Value::integer(0);
}
Value locate(Evaluation& e, Values a) {
  return locate_in(a[0], a[1], a.size() > 2 ? to_int64(a[2]) : 1, e.collation);
}
Value instr(Evaluation& e, Values a) {
  return locate_in(a[1], a[0], 1, e.collation);
}

Value substring_index(Evaluation&, Values a) {
  const std::string value = to_text(a[0]), separator = to_text(a[1]);
  int64_t count = to_int64(a[2]);
  if (separator.empty() || count == 0) return text("", a[0]);
  if (count > 0) {
    size_t at = 0;
    for (size_t found; (found = value.find(separator, at)) != std::string::npos;
         at = found + separator.size()) {
      if (--count == 0) return text(value.substr(0, found), a[0]);
    }
    return a[0];
  }
  for (size_t end = value.size(); end >= separator.size();) {
    end = value.rfind(separator, end - separator.size());
    if (end == std::string::npos) break;
    if (++count == 0) return text(value.substr(end + separator.size()), a[0]);
  }
  return a[0];
}

Value hex(Evaluation&, Values a) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  constexpr double kLeast = -9223372036854775808.0;
  const bool below = (a[0].kind() == Value::Kind::Decimal || a[0].kind() == Value::Kind::Double) &&
                     to_double(a[0]) <= kLeast;
  if (below) return Value::string("FFFFFFFFFFFFFFFF");
  if (a[0].kind() != Value::Kind::String && a[0].kind() != Value::Kind::Temporal)
    return Value::string(fmt::format("{:X}", to_bits(a[0])));
  std::string result;
  for (const char c : to_text(a[0])) {
    result.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    result.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
  return Value::string(std::move(result));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower_case = static_cast<char>(c | 0x20);
  return lower_case >= 'a' && lower_case <= 'f' ? lower_case - 'a' + 10 : -1;
}

Value unhex(Evaluation&, Values a) {
  std::string digits = to_text(a[0]);
  if (digits.size() % 2 == 1) digits.insert(0, 1, '0');
  std::string result;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) return Value::null();
    result.push_back(static_cast<char>(high * 16 + low));
  }
  return Value::string(std::move(result), true);
}

Value ascii(Evaluation&, Values a) {
  const std::string value = to_text(a[0]);
  return Value::integer(value.empty() ? 0 : static_cast<uint8_t>(value[0]));
}

Value character(Evaluation&, Values a) {
  std::string result;
  for (const Value& v : a) {
    if (v.is_null()) continue;
    const auto code = static_cast<uint32_t>(to_bits(v));
    for (int shift = 24; shift >= 0; shift -= 8) {
      const auto byte = static_cast<char>(code >> shift);
      if (byte != 0 || shift == 0 || (code >> shift) != 0) result.push_back(byte);
    }
  }
  return Value::string(std::move(result), true);
}

Value space(Evaluation& e, Values a) {
  const auto count = static_cast<size_t>(std::max<int64_t>(to_int64(a[0]), 0));
  return count > max_allowed_packet(e) ? too_long(e, "space") : Value::string(std::string(count, ' '));
}

Value strcmp_values(Evaluation& e, Values a) {
  const bool binary = a[0].is_binary() || a[1].is_binary();
  const auto order =
      compare_values(Value::string(to_text(a[0]), binary), Value::string(to_text(a[1]), binary), e.collation);
  return Value::integer(order < 0 ? -1 : order > 0 ? 1 : 0);
}

Value time_as_text(const Value& value) {
  return value.kind() == Value::Kind::Temporal ? Value::string(to_text(value)) : value;
}

// Times beside numbers arrive as numbers, and so do texts (numbers_beside_numbers).
Value field(Evaluation& e, Values a) {
  if (a[0].is_null()) return Value::integer(0);
  const Value wanted = time_as_text(a[0]);
  for (size_t i = 1; i < a.size(); ++i) {
    if (!a[i].is_null() && compare_values(wanted, time_as_text(a[i]), e.collation) == 0)
      return Value::integer(static_cast<int64_t>(i));
  }
  return Value::integer(0);
}

Value elt(Evaluation&, Values a) {
  if (a[0].is_null()) return Value::null();
  const int64_t n = to_int64(a[0]);
  return n < 1 || n >= static_cast<int64_t>(a.size()) ? Value::null() : a[static_cast<size_t>(n)];
}

Value find_in_set(Evaluation& e, Values a) {
  const std::string wanted = to_text(a[0]), set = to_text(a[1]);
  if (set.empty()) return Value::integer(0);
  int64_t position = 1;
  for (std::string_view rest = set;; ++position) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (compare(collation_or_binary(e.collation), rest.substr(0, comma), wanted) == 0)
      return Value::integer(position);
    if (comma == rest.size()) return Value::integer(0);
    rest.remove_prefix(comma + 1);
  }
}

Value quote(Evaluation&, Values a) {
  if (a[0].is_null()) return Value::string("NULL");
  std::string result = "'";
  for (const char c : to_text(a[0])) {
    if (c == '\'' || c == '\\') result.push_back('\\');
    if (c == '\0')
      result += "\\0";
    else if (c == '\x1a')
      result += "\\Z";
    else
      result.push_back(c);
  }
  return Value::string(result + "'");
}

ValueType sum_of_lengths(Types types) {
  uint32_t length = 0;
  bool bytes = false;
  std::vector<ValueType> texts;
  for (const ValueType& type : types) {
    length += type.length;
    if (!type.is_string()) continue;
    bytes = bytes || type.collation == kBinaryCollation;
    texts.push_back(type);
  }
  ValueType result = ValueType::text(length);
  if (!texts.empty()) {
    const ValueType common = common_type(texts);
    result.collation = bytes ? kBinaryCollation : common.collation;
    result.strength = common.strength;
  }
  return result;
}
ValueType first_as_text(Types types) {
  ValueType result = ValueType::text(types[0].length);
  if (types[0].is_string()) {
    result.collation = types[0].collation;
    result.strength = types[0].strength;
  }
  return result;
}
ValueType long_text(Types types) {
  ValueType type = first_as_text(types);
  type.length = 16383;
  return type;
}
// A long text with the collation of all arguments that are texts.
ValueType combined_type(Types types) {
  ValueType type = sum_of_lengths(types);
  type.length = 16383;
  return type;
}
ValueType hex_type(Types types) {
  return ValueType::text(std::max(types[0].length, 8u) * 8);
}
ValueType binary_type(Types types) {
  return ValueType::text(std::max(types[0].length, 1u) * 4, kBinaryCollation);
}

constexpr int kAny = FunctionSpec::kAnyNumber;
constexpr FunctionSpec kFunctions[] = {
    {"CONCAT", 1, kAny, true, concat, sum_of_lengths},
    {"CONCAT_WS", 2, kAny, false, concat_ws, sum_of_lengths},
    {"LENGTH", 1, 1, true, byte_length, integer_type},
    {"OCTET_LENGTH", 1, 1, true, byte_length, integer_type},
    {"BIT_LENGTH", 1, 1, true, bit_length, integer_type},
    {"CHAR_LENGTH", 1, 1, true, char_length, integer_type},
    {"CHARACTER_LENGTH", 1, 1, true, char_length, integer_type},
    {"SUBSTRING", 2, 3, true, substring, first_as_text},
    {"LEFT", 2, 2, true, left, first_as_text},
    {"RIGHT", 2, 2, true, right, first_as_text},
    {"UPPER", 1, 1, true, upper, first_as_text},
    {"UCASE", 1, 1, true, upper, first_as_text},
    {"LOWER", 1, 1, true, lower, first_as_text},
    {"LCASE", 1, 1, true, lower, first_as_text},
    {"REPLACE", 3, 3, false, replace, combined_type},
    {"TRIM", 1, 2, true, trim, first_as_text},
    {"TRIM_LEADING", 1, 2, true, trim_left, first_as_text},
    {"TRIM_TRAILING", 1, 2, true, trim_right, first_as_text},
    {"LTRIM", 1, 1, true, trim_left, first_as_text},
    {"RTRIM", 1, 1, true, trim_right, first_as_text},
    {"REPEAT", 2, 2, true, repeat, long_text},
    {"LPAD", 3, 3, true, lpad, combined_type},
    {"RPAD", 3, 3, true, rpad, combined_type},
    {"REVERSE", 1, 1, true, reverse, first_as_text},
    {"LOCATE", 2, 3, true, locate, integer_type},
    {"INSTR", 2, 2, true, instr, integer_type},
    {"SUBSTRING_INDEX", 3, 3, true, substring_index, first_as_text},
    {"HEX", 1, 1, true, hex, hex_type},
    {"UNHEX", 1, 1, true, unhex, binary_type},
    {"ASCII", 1, 1, true, ascii, integer_type},
    {"ORD", 1, 1, true, ascii, integer_type},
    {"CHAR", 1, kAny, false, character, binary_type},
    {"SPACE", 1, 1, true, space, text_type},
    {"STRCMP", 2, 2, true, strcmp_values, integer_type},
    {"FIELD", 2, kAny, false, field, integer_type},
    {"ELT", 2, kAny, false, elt, sum_of_lengths},
    {"FIND_IN_SET", 2, 2, true, find_in_set, integer_type},
    {"QUOTE", 1, 1, false, quote, long_text},
};

}  // namespace

std::span<const FunctionSpec> string_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

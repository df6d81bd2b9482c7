// Functions on texts that encode, assemble or patch them.
#include <algorithm>
#include <cctype>

#include <openssl/evp.h>

#include "base/charset/utf8.h"
#include "sql/expression/conversion.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;
using Types = std::span<const ValueType>;

constexpr size_t kBase64Line = 76;

Value to_base64(Evaluation&, Values a) {
  const std::string bytes = to_text(a[0]);
  std::string encoded((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  encoded.resize(static_cast<size_t>(length));
  for (size_t at = kBase64Line; at < encoded.size(); at += kBase64Line + 1) encoded.insert(at, 1, '\n');
  return Value::string(std::move(encoded));
}

Value from_base64(Evaluation&, Values a) {
  std::string encoded = to_text(a[0]);
  std::erase_if(encoded, [](unsigned char c) { return std::isspace(c) != 0; });
  if (encoded.size() % 4 != 0) return Value::null();
  std::string bytes(encoded.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(encoded.data()),
                                     static_cast<int>(encoded.size()));
  if (length < 0) return Value::null();
  const size_t padding = encoded.size() - (encoded.find_last_not_of('=') + 1);
  bytes.resize(static_cast<size_t>(length) - std::min<size_t>(encoded.empty() ? 0 : padding, 2));
  return Value::string(std::move(bytes), true);
}

char soundex_code(char c) {
  return "01230120022455012623010202"[c - 'A'];
}
Value soundex(Evaluation&, Values a) {
  std::string result;
  char last = '\0';
  const std::string text = to_text(a[0]);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t c = take_character(rest);
    if (c >= 0x80) {  // letters beyond ASCII count as vowels, bytes as nothing
      if (result.empty() && !a[0].is_binary()) result.append(before.substr(0, before.size() - rest.size()));
      continue;
    }
    if (!std::isalpha(static_cast<int>(c))) continue;
    const char letter = static_cast<char>(std::toupper(static_cast<int>(c)));
    const char code = soundex_code(letter);
    if (result.empty())
      result.push_back(letter);
    else if (code != '0' && code != last)
      result.push_back(code);
    else if (code == '0' && letter != 'H' && letter != 'W')
      continue;
    last = code;
  }
  while (!result.empty() && character_count(result) < 4) result.push_back('0');
  return Value::string(std::move(result));
}

Value make_set(Evaluation&, Values a) {
  if (a[0].is_null()) return Value::null();
  const uint64_t bits = to_bits(a[0]);
  std::string result;
  bool first = true;
  for (size_t i = 1; i < a.size() && i <= 64; ++i) {
    if (!(bits >> (i - 1) & 1) || a[i].is_null()) continue;
    if (!first) result.push_back(',');
    result += to_text(a[i]);
    first = false;
  }
  return Value::string(std::move(result));
}

Value export_set(Evaluation& e, Values a) {
  const uint64_t bits = to_bits(a[0]);
  const std::string separator = a.size() > 3 ? to_text(a[3]) : ",";
  int64_t count = a.size() > 4 ? to_int64(a[4]) : 64;
  if (count < 0 || count > 64) count = 64;
  std::string result;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) result += separator;
    result += to_text(bits >> i & 1 ? a[1] : a[2]);
    if (result.size() > max_allowed_packet(e)) return too_long(e, "export_set");
  }
  return Value::string(std::move(result));
}

// INSERT(text, position, length, new): positions count characters.
Value insert(Evaluation&, Values a) {
  const std::string text = to_text(a[0]);
  const bool binary = a[0].is_binary();
  const auto total = static_cast<int64_t>(binary ? text.size() : character_count(text));
  const int64_t position = to_int64(a[1]);
  if (position < 1 || position > total) return a[0];
  int64_t count = to_int64(a[2]);
  if (count < 0 || count > total - position + 1) count = total - position + 1;
  auto offset = [&](int64_t characters) {
    return binary ? static_cast<size_t>(characters)
                  : character_prefix(text, static_cast<size_t>(characters)).size();
  };
  const size_t begin = offset(position - 1), end = offset(position - 1 + count);
  return Value::string(text.substr(0, begin) + to_text(a[3]) + text.substr(end), binary);
}

// The bytes of the first character as one number.
Value ord(Evaluation&, Values a) {
  const std::string text = to_text(a[0]);
  std::string_view rest = text;
  if (text.empty()) return Value::integer(0);
  if (a[0].is_binary())
    rest.remove_prefix(1);
  else
    take_character(rest);
  int64_t number = 0;
  for (const char c : std::string_view(text).substr(0, text.size() - rest.size()))
    number = number << 8 | static_cast<uint8_t>(c);
  return Value::integer(number);
}

// INTERVAL(n, a, b, …): how many of the ascending numbers are not above n.
Value interval_index(Evaluation&, Values a) {
  if (a[0].is_null()) return Value::integer(-1);
  const double n = to_double(a[0]);
  size_t behind = 1;  // NULLs are in no order: they are passed over
  while (behind < a.size() && (a[behind].is_null() || to_double(a[behind]) <= n)) ++behind;
  return Value::integer(static_cast<int64_t>(behind) - 1);
}

Value is_null(Evaluation&, Values a) {
  return Value::integer(a[0].is_null());
}

ValueType long_text(Types) {
  return ValueType::text(16383);
}
// As the text that is changed compares.
ValueType long_text_like_first(Types types) {
  ValueType result = ValueType::text(16383);
  if (types[0].is_string()) {
    result.collation = types[0].collation;
    result.strength = types[0].strength;
  }
  return result;
}
ValueType long_bytes(Types) {
  return ValueType::text(65535, 63);
}

constexpr int kAny = FunctionSpec::kAnyNumber;
constexpr FunctionSpec kFunctions[] = {
    {"TO_BASE64", 1, 1, true, to_base64, long_text},
    {"FROM_BASE64", 1, 1, true, from_base64, long_bytes},
    {"SOUNDEX", 1, 1, true, soundex, long_text_like_first},
    {"MAKE_SET", 2, kAny, false, make_set, long_text},
    {"EXPORT_SET", 3, 5, true, export_set, long_text},
    {"INSERT", 4, 4, true, insert, long_text_like_first},
    {"ORD", 1, 1, true, ord, integer_type},
    {"INTERVAL", 2, kAny, false, interval_index, integer_type},
    {"ISNULL", 1, 1, false, is_null, boolean_type},
};

}  // namespace

std::span<const FunctionSpec> text_functions() {
  return kFunctions;
}

}  // namespace commitd::sql

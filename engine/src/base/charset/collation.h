// Character sets and collations. Text is UTF-8 in memory whatever a column's character set is (transcode.h
// converts it at the row image); everything here therefore takes UTF-8, but for the binary collation, which
// takes bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace commitd {

enum class Charset : uint8_t { Binary, Ascii, Latin1, Utf8mb3, Utf8mb4 };

struct CharsetInfo {
  Charset charset;
  std::string_view name;
  std::string_view description;
  std::string_view default_collation;
  uint8_t max_bytes;  // per character
};

// How characters are ordered: by bytes, by code point, or by one of the weight tables, of which the Unicode
// Collation Algorithm's gives some characters several weights and others none.
enum class Order : uint8_t { Bytes, CodePoint, GeneralCi, SwedishCi, Uca0900 };

struct Collation {
  uint16_t id;
  std::string_view name;
  Charset charset;
  Order order;
  bool pad_space;  // 'a' = 'a  '
};

inline constexpr uint16_t kBinaryCollation = 63;

std::span<const CharsetInfo> all_charsets();
std::span<const Collation> all_collations();
const CharsetInfo& charset_info(Charset charset);
const CharsetInfo* find_charset(std::string_view name);  // also "utf8"; any case; nullptr when unknown
const Collation* find_collation(std::string_view name);  // any case; nullptr when unknown
const Collation* find_collation(uint16_t id);
const Collation& collation_or_binary(uint16_t id);

int compare(const Collation& collation, std::string_view left, std::string_view right);
// Bytes that order as compare() does; no key is a prefix of another one, so keys may be put one behind the
// other.
void append_sort_key(const Collation& collation, std::string_view text, std::string& out);
// Bytes that are equal exactly when compare() says so: shorter and sooner made than a sort key.
void append_equality_key(const Collation& collation, std::string_view text, std::string& out);
// Of two texts with different prefixes, the one with the smaller prefix comes first. Of equal ones nothing is
// known.
uint64_t sort_prefix(const Collation& collation, std::string_view text);
// The weight of one character: equal for characters that LIKE and = take for the same.
uint32_t weight(const Collation& collation, char32_t character);

}  // namespace commitd

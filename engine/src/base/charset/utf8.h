// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace commitd {

// Bytes that are no character stand for themselves above this value, so that comparing damaged text is still
// a total order.
inline constexpr char32_t kInvalidByteBase = 0x110000;

// Takes the first character off `text`, which must not be empty.
inline char32_t take_character(std::string_view& text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) {
    text.remove_prefix(1);
    return first;
  }
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  char32_t character = first & (0xFFu >> (length + 1));
  bool valid = first >= 0xC2 && first <= 0xF4 && text.size() >= length;
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80;
    character = character << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (!valid || character < kLeast[length] || character > 0x10FFFF ||
      (character >= 0xD800 && character < 0xE000)) {
    text.remove_prefix(1);
    return kInvalidByteBase + first;
  }
  text.remove_prefix(length);
  return character;
}

void append_character(std::string& out, char32_t character);
size_t character_count(std::string_view text);
// The first `characters` characters.
std::string_view character_prefix(std::string_view text, size_t characters);
// Length of the longest valid prefix whose characters take at most `max_bytes` (3 for utf8mb3) each.
size_t valid_utf8_prefix(std::string_view text, size_t max_bytes = 4);

}  // namespace commitd

#include "base/charset/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace commitd {

void append_character(std::string& out, char32_t character) {
  if (character < 0x80) {
    out.push_back(static_cast<char>(character));
    return;
  }
  const int continuation = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out.push_back(static_cast<char>(kLead[continuation] | character >> (6 * continuation)));
  for (int i = continuation; i-- > 0;) out.push_back(static_cast<char>(0x80 | (character >> (6 * i) & 0x3F)));
}

size_t character_count(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string_view character_prefix(std::string_view text, size_t characters) {
  if (text.size() <= characters) return text;
  std::string_view rest = text;
  for (size_t i = 0; i < characters && !rest.empty(); ++i) take_character(rest);
  return text.substr(0, text.size() - rest.size());
}

namespace {

// Most texts are ASCII: eight characters of it at a time.
size_t ascii_prefix(std::string_view text) {
  size_t length = 0;
  for (uint64_t eight; length + sizeof(eight) <= text.size(); length += sizeof(eight)) {
    std::memcpy(&eight, text.data() + length, sizeof(eight));
    if ((eight & 0x8080808080808080) != 0) break;
  }
  return length;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text, size_t max_bytes) {
  std::string_view rest = text;
  while (true) {
    rest.remove_prefix(ascii_prefix(rest));
    if (rest.empty()) break;
    const size_t before = rest.size();
    const char32_t character = take_character(rest);
    if (character >= kInvalidByteBase || before - rest.size() > max_bytes) return text.size() - before;
  }
  return text.size();
}

}  // namespace commitd

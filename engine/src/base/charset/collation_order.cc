// Comparison and sort keys. compare() is the definition; append_sort_key() must order the same way (a
// property test holds them together).
#include <array>
#include <cstring>

#include "base/charset/collation.h"
#include "base/charset/transcode.h"
#include "base/charset/utf8.h"
#include "base/packed_int.h"

namespace commitd {

namespace {

constexpr std::array<uint16_t, 11 * 256> kGeneralCiWeights = {
#include "base/charset/general_ci_weights.inc"
};
// Where a high byte's page lies in the table; 0xFF = characters of this page are their own weights.
constexpr auto kGeneralCiPages = [] {
  constexpr std::array<uint8_t, 11> kPages = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05,
                                              0x1E, 0x1F, 0x21, 0x24, 0xFF};
  std::array<uint8_t, 256> pages{};
  pages.fill(0xFF);
  for (uint8_t i = 0; i < kPages.size(); ++i) pages[kPages[i]] = i;
  return pages;
}();
constexpr uint32_t kSupplementaryWeight = 0xFFFD;
constexpr uint32_t kSpace = 0x20;

// latin1_swedish_ci by Windows-1252 byte: upper case, accents off, and Å Ä Ö behind Z.
constexpr auto kSwedishWeights = [] {
  constexpr std::array<uint8_t, 32> kUpperHalf = {'A', 'A',  'A', 'A', '\\', '[', '\\', 'C', 'E',  'E', 'E',
                                                  'E', 'I',  'I', 'I', 'I',  'D', 'N',  'O', 'O',  'O', 'O',
                                                  ']', 0xD7, ']', 'U', 'U',  'U', 'Y',  'Y', 0xDE, 0xDF};
  std::array<uint8_t, 256> weights{};
  for (size_t i = 0; i < 256; ++i) weights[i] = static_cast<uint8_t>(i);
  for (size_t i = 'a'; i <= 'z'; ++i) weights[i] = static_cast<uint8_t>(i - 'a' + 'A');
  for (size_t i = 0; i < kUpperHalf.size(); ++i) weights[0xC0 + i] = weights[0xE0 + i] = kUpperHalf[i];
  weights[0xF7] = 0xF7;
  weights[0xFF] = 0xFF;
  return weights;
}();

uint32_t general_ci_weight(char32_t character) {
  const uint8_t page = kGeneralCiPages[character >> 8 & 0xFF];
  return page == 0xFF ? static_cast<uint32_t>(character)
                      : kGeneralCiWeights[page * 256u + (character & 0xFF)];
}

uint32_t next_weight(const Collation& collation, std::string_view& text) {
  return weight(collation, take_character(text));
}

// What is left of the longer string, compared with spaces.
int compare_with_spaces(const Collation& collation, std::string_view rest) {
  while (!rest.empty()) {
    const uint32_t w = next_weight(collation, rest);
    if (w != kSpace) return w < kSpace ? -1 : 1;
  }
  return 0;
}

void append_binary_key(std::string_view bytes, std::string& out) {
  for (size_t zero; (zero = bytes.find('\0')) != std::string_view::npos;) {
    out.append(bytes.substr(0, zero));
    out.append("\0\xFF", 2);
    bytes.remove_prefix(zero + 1);
  }
  out.append(bytes);
  out.append("\0\0", 2);
}

// Width of a weight in a sort key. NO PAD adds one to each, so that zero ends the string; Windows-1252 is
// below one byte but characters it lacks may be compared with it too.
constexpr size_t kPaddedWidth = 2;
constexpr size_t kUnpaddedWidth = 3;

void append_weight(std::string& out, uint32_t value, size_t width) {
  append_big_endian(out, value, width);
}

// PAD SPACE: the end of a string equals any number of spaces. Each run of spaces is written as one space and
// how it compares with the endless run: smaller ones (a character below space follows) first, the end of the
// string between, larger ones last. Every key thus ends in a space and kEndOfText.
constexpr uint32_t kEndOfText = 0x80000000;

void append_padded_key(const Collation& collation, std::string_view text, std::string& out, size_t width) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  uint32_t spaces = 0;
  while (!text.empty()) {
    const uint32_t w = next_weight(collation, text);
    if (w == kSpace) {
      ++spaces;
      continue;
    }
    if (spaces > 0) {
      append_weight(out, kSpace, width);
      append_weight(out, w < kSpace ? spaces : ~spaces, 4);
      spaces = 0;
    }
    append_weight(out, w, width);
  }
  append_weight(out, kSpace, width);
  append_weight(out, kEndOfText, 4);
}

}  // namespace

uint32_t weight(const Collation& collation, char32_t character) {
  switch (collation.order) {
    case Order::Bytes:
    case Order::CodePoint:
      return character;
    case Order::GeneralCi:
      if (character < 0x10000) return general_ci_weight(character);
      return collation.pad_space ? kSupplementaryWeight : static_cast<uint32_t>(character);
    case Order::SwedishCi: {
      const int byte = latin1_byte(character);
      return byte < 0 ? kSupplementaryWeight : kSwedishWeights[static_cast<size_t>(byte)];
    }
  }
  return character;
}

int compare(const Collation& collation, std::string_view left, std::string_view right) {
  if (collation.order == Order::Bytes) return left.compare(right);
  while (!left.empty() && !right.empty()) {
    const uint32_t l = next_weight(collation, left), r = next_weight(collation, right);
    if (l != r) return l < r ? -1 : 1;
  }
  if (left.empty() && right.empty()) return 0;
  if (!collation.pad_space) return left.empty() ? -1 : 1;
  return left.empty() ? -compare_with_spaces(collation, right) : compare_with_spaces(collation, left);
}

void append_sort_key(const Collation& collation, std::string_view text, std::string& out) {
  if (collation.order == Order::Bytes) return append_binary_key(text, out);
  if (collation.pad_space) {
    return append_padded_key(collation, text, out,
                             collation.order == Order::CodePoint ? kUnpaddedWidth : kPaddedWidth);
  }
  while (!text.empty()) append_weight(out, next_weight(collation, text) + 1, kUnpaddedWidth);
  append_weight(out, 0, kUnpaddedWidth);
}

}  // namespace commitd

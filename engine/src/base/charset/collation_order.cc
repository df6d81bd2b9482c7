// Comparison and sort keys. compare() is the definition; append_sort_key() must order the same way (a
// property test holds them together).
#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.h"
#include "base/charset/collation.h"
#include "base/charset/transcode.h"
#include "base/charset/uca_weights.h"
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
  for (size_t i = 0; i < kPages.size(); ++i) pages[kPages[i]] = static_cast<uint8_t>(i);
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

// Most text is ASCII, whose characters need no decoding and weigh less than 128 in every order.
using AsciiWeights = std::array<uint8_t, 0x80>;

template <class Weight>
constexpr AsciiWeights ascii_weights(Weight weight_of) {
  AsciiWeights weights{};
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint8_t>(weight_of(i));
  return weights;
}
constexpr AsciiWeights kAsciiCodePoints = ascii_weights([](size_t i) { return i; });
constexpr AsciiWeights kAsciiGeneralCi = ascii_weights([](size_t i) { return kGeneralCiWeights[i]; });
constexpr AsciiWeights kAsciiSwedish = ascii_weights([](size_t i) { return kSwedishWeights[i]; });

const AsciiWeights& ascii_weights(Order order) {
  switch (order) {
    case Order::GeneralCi:
      return kAsciiGeneralCi;
    case Order::SwedishCi:
      return kAsciiSwedish;
    default:
      return kAsciiCodePoints;
  }
}

// The weights of a text, one after the other.
class Weights {
 public:
  Weights(const Collation& collation, std::string_view text)
      : collation_(collation), ascii_(ascii_weights(collation.order)), text_(text) {}

  bool at_end() const { return text_.empty(); }
  uint32_t next() {
    const auto byte = static_cast<uint8_t>(text_.front());
    if (byte >= 0x80) return weight(collation_, take_character(text_));
    text_.remove_prefix(1);
    return ascii_[byte];
  }

 private:
  const Collation& collation_;
  const AsciiWeights& ascii_;
  std::string_view text_;
};

// What is left of the longer string, compared with spaces.
int compare_with_spaces(Weights& rest) {
  while (!rest.at_end()) {
    const uint32_t w = rest.next();
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

// Gathers a key's numbers, so that not each of them is appended by itself.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& out) : out_(out) {}
  ~KeyWriter() { flush(); }
  KeyWriter(const KeyWriter&) = delete;

  void append(uint32_t value, size_t width) {
    if (used_ + width > gathered_.size()) flush();
    store_be(gathered_.data() + used_, value, width);
    used_ += width;
  }

 private:
  void flush() {
    out_.append(gathered_.data(), used_);
    used_ = 0;
  }

  std::string& out_;
  std::array<char, 512> gathered_;
  size_t used_ = 0;
};

// PAD SPACE: the end of a string equals any number of spaces. Each run of spaces is written as one space and
// how it compares with the endless run: smaller ones (a character below space follows) first, the end of the
// string between, larger ones last. Every key thus ends in a space and kEndOfText.
constexpr uint32_t kEndOfText = 0x80000000;

template <size_t kWidth>
void append_padded_key(const Collation& collation, std::string_view text, std::string& out) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  KeyWriter key(out);
  uint32_t spaces = 0;
  for (Weights weights(collation, text); !weights.at_end();) {
    const uint32_t w = weights.next();
    if (w == kSpace) {
      ++spaces;
      continue;
    }
    if (spaces > 0) {
      key.append(kSpace, kWidth);
      key.append(w < kSpace ? spaces : ~spaces, 4);
      spaces = 0;
    }
    key.append(w, kWidth);
  }
  key.append(kSpace, kWidth);
  key.append(kEndOfText, 4);
}

void append_unpadded_key(const Collation& collation, std::string_view text, std::string& out) {
  KeyWriter key(out);
  for (Weights weights(collation, text); !weights.at_end();) key.append(weights.next() + 1, kUnpaddedWidth);
  key.append(0, kUnpaddedWidth);
}

int compare_uca(std::string_view left, std::string_view right) {
  UcaWeights lefts(left), rights(right);
  for (;;) {
    const uint32_t l = lefts.next(), r = rights.next();
    if (l != r) return l < r ? -1 : 1;
    if (l == 0) return 0;
  }
}

constexpr size_t kUcaWidth = 2;

// The end is 0, which no weight is.
void append_uca_key(std::string_view text, std::string& out) {
  KeyWriter key(out);
  UcaWeights weights(text);
  uint32_t weight = 0;
  do {
    weight = weights.next();
    key.append(weight, kUcaWidth);
  } while (weight != 0);
}

uint64_t uca_prefix(std::string_view text) {
  constexpr size_t kWeights = 4;
  UcaWeights weights(text);
  uint64_t prefix = 0;
  for (size_t i = 0; i < kWeights; ++i) prefix = prefix << 16 | weights.next();
  return prefix;
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
    case Order::Uca0900:
      return uca_identity(character);
    case Order::SwedishCi: {
      const int byte = latin1_byte(character);
      return byte < 0 ? kSupplementaryWeight : kSwedishWeights[static_cast<size_t>(byte)];
    }
  }
  return character;
}

int compare(const Collation& collation, std::string_view left, std::string_view right) {
  if (collation.order == Order::Bytes) return left.compare(right);
  if (collation.order == Order::Uca0900) return compare_uca(left, right);
  Weights lefts(collation, left), rights(collation, right);
  while (!lefts.at_end() && !rights.at_end()) {
    const uint32_t l = lefts.next(), r = rights.next();
    if (l != r) return l < r ? -1 : 1;
  }
  if (lefts.at_end() && rights.at_end()) return 0;
  if (!collation.pad_space) return lefts.at_end() ? -1 : 1;
  return lefts.at_end() ? -compare_with_spaces(rights) : compare_with_spaces(lefts);
}

void append_sort_key(const Collation& collation, std::string_view text, std::string& out) {
  if (collation.order == Order::Bytes) return append_binary_key(text, out);
  if (collation.order == Order::Uca0900) return append_uca_key(text, out);
  if (!collation.pad_space) return append_unpadded_key(collation, text, out);
  if (collation.order == Order::CodePoint) return append_padded_key<kUnpaddedWidth>(collation, text, out);
  append_padded_key<kPaddedWidth>(collation, text, out);
}

namespace {

constexpr uint32_t kLongWeight = 0x80;  // in an equality key: four bytes follow

constexpr uint64_t in_each_byte(uint64_t byte) {
  return byte * 0x0101010101010101;
}
constexpr uint64_t kNotAscii = in_each_byte(0x80);

// Of eight ASCII characters.
constexpr uint64_t upper_case(uint64_t characters) {
  const uint64_t from_a = characters + in_each_byte(0x80 - 'a');
  const uint64_t behind_z = characters + in_each_byte(0x80 - 'z' - 1);
  return characters ^ (from_a & ~behind_z & kNotAscii) >> 2;
}

constexpr bool is_upper_case(const AsciiWeights& weights) {
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] != (upper_case(i) & 0xFF)) return false;
  }
  return true;
}
static_assert(is_upper_case(kAsciiGeneralCi) && is_upper_case(kAsciiSwedish));

// Writes the weights of the ASCII characters that `text` begins with, in whole eights; how many they were.
size_t put_ascii_weights(Order order, std::string_view text, char* to) {
  const bool case_matters = order == Order::CodePoint;
  size_t length = 0;
  for (; length + 8 <= text.size(); length += 8) {
    const uint64_t characters = load_le64(text.data() + length);
    if ((characters & kNotAscii) != 0) break;
    store_le64(to + length, case_matters ? characters : upper_case(characters));
  }
  return length;
}

}  // namespace

void append_equality_key(const Collation& collation, std::string_view text, std::string& out) {
  if (collation.order == Order::Bytes) {
    out.append(text);
    return;
  }
  if (collation.order == Order::Uca0900) return append_uca_key(text, out);
  if (collation.pad_space) {  // no other character weighs what a space does
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  }
  const size_t start = out.size();
  out.append(text);
  const size_t length = put_ascii_weights(collation.order, text, out.data() + start);
  out.resize(start + length);
  for (Weights rest(collation, text.substr(length)); !rest.at_end();) {
    const uint32_t w = rest.next();
    if (w >= kLongWeight) {
      out.push_back(static_cast<char>(kLongWeight));
      append_big_endian(out, w, 4);
    } else {
      out.push_back(static_cast<char>(w));
    }
  }
}

uint64_t sort_prefix(const Collation& collation, std::string_view text) {
  constexpr size_t kBytes = 8;
  constexpr uint32_t kMore = 0xFF;  // a weight that is not told apart from those above it, nor what follows
  if (collation.order == Order::Bytes) {
    const size_t size = std::min(text.size(), kBytes);
    return size == 0 ? 0 : load_be(text.data(), size) << (8 * (kBytes - size));
  }
  if (collation.order == Order::Uca0900) return uca_prefix(text);
  const uint32_t end = collation.pad_space ? kSpace : 0, above_end = collation.pad_space ? 0 : 1;
  uint64_t prefix = 0;
  if (text.size() >= kBytes && (load_le64(text.data()) & kNotAscii) == 0) {
    const AsciiWeights& ascii = ascii_weights(collation.order);
    for (size_t i = 0; i < kBytes; ++i)
      prefix = prefix << 8 | (ascii[static_cast<uint8_t>(text[i])] + above_end);
    return prefix;
  }
  Weights weights(collation, text);
  bool more = false;
  for (size_t i = 0; i < kBytes; ++i) {
    uint32_t byte = end;
    if (!more && !weights.at_end()) byte = weights.next() + above_end;
    more = more || byte >= kMore;
    prefix = prefix << 8 | (more ? kMore : byte);
  }
  return prefix;
}

}  // namespace commitd

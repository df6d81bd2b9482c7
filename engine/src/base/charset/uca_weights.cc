#include "base/charset/uca_weights.h"

#include "base/charset/utf8.h"

namespace commitd {
namespace {

#include "base/charset/uca_0900_weights.inc"

constexpr uint16_t kImplicit = 0x7FFF, kExpansion = 0x8000;
constexpr uint8_t kNoPage = 0xFF;
static_assert(kPageNumbers.size() < kNoPage);

// Where a page lies among those that have one.
constexpr auto kPlaces = [] {
  std::array<uint8_t, kPageNumbers.back() + 1> places{};
  places.fill(kNoPage);
  for (size_t i = 0; i < kPageNumbers.size(); ++i) places[kPageNumbers[i]] = static_cast<uint8_t>(i);
  return places;
}();

uint16_t number_of(char32_t character) {
  const size_t page = character >> 8;
  if (page >= kPlaces.size() || kPlaces[page] == kNoPage) return kImplicit;
  return kPages[kPlaces[page] * size_t{256} + (character & 0xFF)];
}

constexpr bool within(char32_t character, char32_t first, char32_t last) {
  return character >= first && character <= last;
}

bool is_compatibility_ideograph(char32_t c) {
  constexpr std::array<char32_t, 12> kUnified = {0xFA0E, 0xFA0F, 0xFA11, 0xFA13, 0xFA14, 0xFA1F,
                                                 0xFA21, 0xFA23, 0xFA24, 0xFA27, 0xFA28, 0xFA29};
  for (const char32_t unified : kUnified) {
    if (c == unified) return true;
  }
  return false;
}

bool is_extension_ideograph(char32_t c) {
  return within(c, 0x3400, 0x4DB5) || within(c, 0x20000, 0x2A6D6) || within(c, 0x2A700, 0x2B734) ||
         within(c, 0x2B740, 0x2B81D) || within(c, 0x2B820, 0x2CEA1);
}

// Ideographs, and what was no character when the table was made.
std::array<uint16_t, 3> implicit_weights(char32_t c) {
  constexpr char32_t kFirstTangut = 0x17000, kLastTangut = 0x18AFF;
  constexpr uint16_t kTangut = 0xFB00, kIdeograph = 0xFB40, kExtension = 0xFB80, kOther = 0xFBC0;
  if (within(c, kFirstTangut, kLastTangut))
    return {kTangut, static_cast<uint16_t>((c - kFirstTangut) | 0x8000), 0};
  const bool ideograph = within(c, 0x4E00, 0x9FD5) || is_compatibility_ideograph(c);
  const uint16_t base = ideograph ? kIdeograph : is_extension_ideograph(c) ? kExtension : kOther;
  return {static_cast<uint16_t>(base + (c >> 15)), static_cast<uint16_t>((c & 0x7FFF) | 0x8000), 0};
}

constexpr char32_t kFirstSyllable = 0xAC00, kLastSyllable = 0xD7A3;

// A syllable of Hangul is the two or three letters that it is made of.
std::array<uint16_t, 3> syllable_weights(char32_t c) {
  constexpr char32_t kFirstLead = 0x1100, kFirstVowel = 0x1161, kBehindTail = 0x11A7, kTails = 28,
                     kVowels = 21;
  const char32_t index = c - kFirstSyllable, tail = index % kTails;
  const auto weight = [](char32_t letter) { return number_of(letter); };
  return {weight(kFirstLead + index / (kTails * kVowels)), weight(kFirstVowel + index / kTails % kVowels),
          tail == 0 ? uint16_t{0} : weight(kBehindTail + tail)};
}

}  // namespace

uint32_t uca_identity(char32_t character) {
  constexpr uint32_t kBehindNumbers = 0x10000;
  const uint16_t number = number_of(character);
  return number == kImplicit ? kBehindNumbers + static_cast<uint32_t>(character) : number;
}

void UcaWeights::take(char32_t character) {
  const uint16_t number = number_of(character);
  if (number >= kExpansion) {
    const size_t at = number - size_t{kExpansion};
    left_ = std::span(kPool).subspan(at + 1, kPool[at]);
    return;
  }
  if (number != kImplicit)
    own_ = {number, 0, 0};
  else
    own_ = within(character, kFirstSyllable, kLastSyllable) ? syllable_weights(character)
                                                            : implicit_weights(character);
  size_t count = 0;
  while (count < own_.size() && own_[count] != 0) ++count;
  left_ = std::span<const uint16_t>(own_).first(count);
}

uint32_t UcaWeights::next() {
  while (left_.empty()) {
    if (text_.empty()) return 0;
    take(take_character(text_));
  }
  const uint16_t weight = left_.front();
  left_ = left_.subspan(1);
  return weight;
}

}  // namespace commitd

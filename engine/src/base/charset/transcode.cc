#include "base/charset/transcode.h"

#include <array>

#include "base/charset/utf8.h"

namespace commitd {

namespace {

// 0x80 to 0x9F; the five bytes Windows-1252 leaves open map to the control characters of their number.
constexpr std::array<uint16_t, 32> kWindows1252 = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

}  // namespace

int latin1_byte(char32_t character) {
  if (character < 0x80 || (character >= 0xA0 && character < 0x100)) return static_cast<int>(character);
  for (size_t i = 0; i < kWindows1252.size(); ++i) {
    if (kWindows1252[i] == character) return static_cast<int>(0x80 + i);
  }
  return -1;
}

std::string latin1_from_utf8(std::string_view utf8, size_t* substituted) {
  std::string out;
  out.reserve(utf8.size());
  size_t lost = 0;
  while (!utf8.empty()) {
    const int byte = latin1_byte(take_character(utf8));
    if (byte < 0) ++lost;
    out.push_back(byte < 0 ? '?' : static_cast<char>(byte));
  }
  if (substituted != nullptr) *substituted = lost;
  return out;
}

std::string utf8_from_latin1(std::string_view latin1) {
  std::string out;
  out.reserve(latin1.size());
  for (char c : latin1) {
    const auto byte = static_cast<uint8_t>(c);
    append_character(out, byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80u] : byte);
  }
  return out;
}

}  // namespace commitd

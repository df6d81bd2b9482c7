// Primary weights of the Unicode Collation Algorithm 9.0.0, without contractions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace commitd {

// The same for characters with the same weights.
uint32_t uca_identity(char32_t character);

// The weights of a text, one after the other; none of them is 0, and what weighs nothing does not appear.
class UcaWeights {
 public:
  explicit UcaWeights(std::string_view text) : text_(text) {}
  UcaWeights(const UcaWeights&) = delete;  // what is left may lie in it

  uint32_t next();  // 0 at the end

 private:
  void take(char32_t character);

  std::string_view text_;
  std::span<const uint16_t> left_;  // of the last character
  std::array<uint16_t, 3> own_{};   // its weights where they are in no table
};

}  // namespace commitd

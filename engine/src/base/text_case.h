#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <absl/strings/ascii.h>

namespace commitd {

// ASCII letters only, as names are compared.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  absl::AsciiStrToLower(&lower);
  return lower;
}

inline bool equal_words(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char l, char r) {
    return absl::ascii_tolower(static_cast<unsigned char>(l)) ==
           absl::ascii_tolower(static_cast<unsigned char>(r));
  });
}

inline std::string upper_case(std::string_view text) {
  std::string upper(text);
  absl::AsciiStrToUpper(&upper);
  return upper;
}

}  // namespace commitd

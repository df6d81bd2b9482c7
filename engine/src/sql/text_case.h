#pragma once

#include <string>
#include <string_view>

#include <absl/strings/ascii.h>

namespace commitd::sql {

// ASCII letters only, as names are compared.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  absl::AsciiStrToLower(&lower);
  return lower;
}

}  // namespace commitd::sql

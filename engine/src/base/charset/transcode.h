// Between UTF-8 and the bytes of a column's character set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/charset/collation.h"

namespace commitd {

// Nothing to do for these: their bytes are UTF-8 already (or no text at all).
inline bool stored_as_utf8(Charset charset) {
  return charset != Charset::Latin1;
}

// latin1 means Windows-1252, as in MySQL. `substituted` counts characters it does not have; they become '?'.
std::string latin1_from_utf8(std::string_view utf8, size_t* substituted = nullptr);
std::string utf8_from_latin1(std::string_view latin1);
// The latin1 byte of a character, or -1.
int latin1_byte(char32_t character);

}  // namespace commitd

#pragma once

#include <cstdint>
#include <string_view>

#include <isa-l/crc.h>

namespace commitd {

// The CRC-32 of zlib, which is the one binlog events end with. Not by zlib itself: its code was half of what
// a start takes. Pass the former result to go on with a later piece.
inline uint32_t crc32_of(std::string_view bytes, uint32_t previous = 0) {
  return ::crc32_gzip_refl(previous, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace commitd

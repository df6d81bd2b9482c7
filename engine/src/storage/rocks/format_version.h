// The versions of what RocksEngine keeps on disk: the one that a start writes, and the one that it brings
// forward.
#pragma once

#include <string_view>

namespace commitd::storage {

inline constexpr std::string_view kFormatVersion = "2";
// Its commit point has all of gtid_executed in it.
inline constexpr std::string_view kEarlierFormatVersion = "1";

}  // namespace commitd::storage

// With log_replica_updates=OFF what is received stands in files of its own, the relay log. Both kinds of
// files are one log: numbered together, written one behind the other, recovered as one. Only readers tell
// them apart.
#pragma once

#include <cstdint>
#include <string_view>

namespace commitd::binlog {

enum class LogKind : uint8_t { Binary, Relay };

// Not after the host, as MySQL's: a data directory may move.
inline constexpr std::string_view kRelayLogName = "commitd-relay-bin";

}  // namespace commitd::binlog

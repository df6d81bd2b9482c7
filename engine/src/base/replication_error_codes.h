// Error numbers that only replication says, by MySQL's names.
#pragma once

#include <cstdint>

namespace commitd::er {

inline constexpr uint16_t kBadReplicaUntilCond = 1277;
inline constexpr uint16_t kReplicaFatalError = 1593;
inline constexpr uint16_t kReplicaChannelDoesNotExist = 3074;
inline constexpr uint16_t kCantReplicateAnonymousWithAutoPosition = 3113;
inline constexpr uint16_t kCantReplicateAnonymousWithGtidModeOn = 3114;
inline constexpr uint16_t kCantCombineAnonymousToGtidAndAutoPosition = 4014;
inline constexpr uint16_t kCantSetSqlAfterOrBeforeGtidsWithAnonymousToGtid = 4019;

}  // namespace commitd::er

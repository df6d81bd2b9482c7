// MySQL's error numbers about clones.
#pragma once

#include <cstdint>

namespace commitd::er {

inline constexpr uint16_t kCloneDonor = 3862;
inline constexpr uint16_t kCloneProtocol = 3863;
inline constexpr uint16_t kCloneDonorVersion = 3864;
inline constexpr uint16_t kCloneConfiguration = 3868;
inline constexpr uint16_t kCloneSystemConfiguration = 3869;
inline constexpr uint16_t kCloneLoopback = 3871;
inline constexpr uint16_t kCloneDiskSpace = 3873;
inline constexpr uint16_t kCloneInProgress = 3874;
inline constexpr uint16_t kCloneDisallowed = 3875;

}  // namespace commitd::er

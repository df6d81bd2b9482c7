// Mistakes that whoever checks this server must find. Only the program commitd_with_defects can make them,
// the one that COMMITD_DEFECT names; everywhere else these conditions are false when the compiler sees them.
#pragma once

#include <cstdlib>
#include <string_view>

namespace commitd {

#ifdef COMMITD_DEFECTS
// NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets the environment
static inline bool has_defect(std::string_view name) {
  static const char* const chosen = std::getenv("COMMITD_DEFECT");
  return chosen != nullptr && name == chosen;
}
#else
static constexpr bool has_defect(std::string_view /*name*/) {
  return false;
}
#endif

}  // namespace commitd

// Moments as performance_schema shows them.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace commitd::replication {

inline constexpr uint64_t kMicrosecondsPerSecond = 1000000;

inline std::string formatted_moment(const char* format, uint64_t microseconds) {
  const auto seconds = static_cast<std::time_t>(microseconds / kMicrosecondsPerSecond);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

inline std::string moment_text(uint64_t microseconds) {
  if (microseconds == 0) return "0000-00-00 00:00:00.000000";
  std::string fraction = std::to_string(kMicrosecondsPerSecond + microseconds % kMicrosecondsPerSecond);
  fraction[0] = '.';
  return formatted_moment("%Y-%m-%d %H:%M:%S", microseconds) + fraction;
}

}  // namespace commitd::replication

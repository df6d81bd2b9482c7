// What must hold, looked at in every build: where going on would write wrong data, the process ends instead.
//   COMMITD_CHECK(position <= end, "applied up to {}, acknowledged only up to {}", position.offset,
//   end.offset);
// Not for what input, a disk or another server can bring about: that is an Error.
#pragma once

#include <string>

#include <fmt/format.h>

#define COMMITD_CHECK(condition, ...)                                                    \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::commitd::check_failed(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__)); \
  } while (false)

namespace commitd {

// Says it on the error stream, which is the log, and aborts.
[[noreturn, gnu::cold]] void check_failed(const char* file, int line, const char* condition,
                                          const std::string& what);

}  // namespace commitd

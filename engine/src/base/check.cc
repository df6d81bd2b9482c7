#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace commitd {

void check_failed(const char* file, int line, const char* condition, const std::string& what) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, what.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace commitd

#include "server/processors.h"

#include <algorithm>
#include <sstream>
#include <thread>

#include "server/control_group.h"

namespace commitd::server {

double usable_processors(const std::string& root) {
  double processors = std::max(1u, std::thread::hardware_concurrency());
  for (const std::string& line : group_settings(root, "", "cpu.max")) {
    std::istringstream text(line);
    double quota = 0, period = 0;
    if (text >> quota >> period && period > 0)
      processors = std::min(processors, quota / period);  // not "max"
  }
  return processors;
}

}  // namespace commitd::server

// How many processors the server may use.
#pragma once

#include <string>

namespace commitd::server {

// Those that the process may run on, at most what the quota of its control group (version 2) comes to.
// `root`: where /proc and /sys are, for tests.
double usable_processors(const std::string& root = "");

}  // namespace commitd::server

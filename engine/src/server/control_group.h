// What the control group of this process allows.
#pragma once

#include <string>
#include <vector>

namespace commitd::server {

// The first lines of `file` in the process's group and in all groups above, where they are there.
// `controller` names the hierarchy, "" is that of version 2. `root`: where /proc and /sys are, for tests.
std::vector<std::string> group_settings(const std::string& root, const std::string& controller,
                                        const std::string& file);

}  // namespace commitd::server

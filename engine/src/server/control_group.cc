#include "server/control_group.h"

#include <fstream>

#include <fmt/format.h>

namespace commitd::server {
namespace {

// The path of this process's group in the hierarchy of `controller`.
std::string group_path(const std::string& root, const std::string& controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controller) return line.substr(second + 1);
  }
  return "/";
}

}  // namespace

// Inside a container the group's own path may not be visible: then the hierarchy's top is the group.
std::vector<std::string> group_settings(const std::string& root, const std::string& controller,
                                        const std::string& file) {
  std::string mount = root + "/sys/fs/cgroup";
  if (!controller.empty()) mount += "/" + controller;
  std::vector<std::string> found;
  for (std::string group = group_path(root, controller);;) {
    std::ifstream setting(fmt::format("{}{}/{}", mount, group, file));
    std::string line;
    if (std::getline(setting, line)) found.push_back(line);
    if (group.empty() || group == "/") return found;
    group.erase(group.rfind('/'));
  }
}

}  // namespace commitd::server

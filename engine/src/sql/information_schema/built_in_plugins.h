// What MySQL has as plugins and this server is made of: they are shown, and can be neither installed nor
// uninstalled.
#pragma once

#include <string_view>
#include <vector>

namespace commitd::sql {

struct BuiltInPlugin {
  std::string_view name, type, description;
};
std::vector<BuiltInPlugin> built_in_plugins();
bool is_built_in_plugin(std::string_view name);

}  // namespace commitd::sql

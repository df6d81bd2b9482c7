// What MySQL says when a plugin cannot be installed or uninstalled.
#pragma once

#include <string_view>

#include "base/error_codes.h"
#include "base/result.h"

namespace commitd::plugins {

inline Error no_paths_allowed() {
  return make_error(er::kUdfNoPaths, "No paths allowed for shared library");
}
inline Error is_installed(std::string_view name) {
  return make_error(er::kUdfExists, "Function '{}' already exists", name);
}
inline Error cannot_open(std::string_view path, int number, std::string_view why) {
  return make_error(er::kCantOpenLibrary, "Can't open shared library '{}' (errno: {} {})", path, number, why);
}
inline Error not_in_library(std::string_view symbol) {
  return make_error(er::kCantFindDlEntry, "Can't find symbol '{}' in library", symbol);
}
inline Error cannot_initialize(std::string_view name) {
  return make_error(er::kCantInitializeUdf,
                    "Can't initialize function '{}'; Plugin initialization function failed.", name);
}
inline Error does_not_exist(std::string_view name) {
  return make_error(er::kSpDoesNotExist, "PLUGIN {} does not exist", name);
}
inline Error built_in_stays() {
  return make_error(er::kPluginDeleteBuiltin, "Built-in plugins cannot be deleted");
}
inline Error not_uninstallable(std::string_view name) {
  return make_error(er::kPluginNoUninstall,
                    "Plugin '{}' is marked as not dynamically uninstallable. You have to stop the server to "
                    "uninstall it.",
                    name);
}
inline Error not_installable(std::string_view name) {
  return make_error(er::kPluginNoInstall,
                    "Plugin '{}' is marked as not dynamically installable. You have to stop the server to "
                    "install it.",
                    name);
}
inline Error in_use(std::string_view name, std::string_view why) {
  return make_error(er::kPluginCannotBeUninstalled, "Plugin '{}' cannot be uninstalled now. {}", name, why);
}
inline Error conflicts(std::string_view name, std::string_view other) {
  return make_error(er::kWarnSemisyncPlugin, "Cannot install the {} plugin when the {} plugin is installed.",
                    name, other);
}

}  // namespace commitd::plugins

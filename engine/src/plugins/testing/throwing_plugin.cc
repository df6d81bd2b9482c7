// Plugins in C++ that throw: for tests.
#include <stdexcept>

#include "plugins/plugin_api.h"

namespace {

int throw_in_init(const commitd_host* host) {
  static const commitd_transaction_observer observer{};
  host->observe_transactions(host, &observer);
  throw std::runtime_error("no");
}

int throw_in_hook(const commitd_host* host) {
  commitd_transaction_observer observer{};
  observer.before_commit = [](void*, const commitd_transaction*) -> int { throw std::runtime_error("hook"); };
  return host->observe_transactions(host, &observer);
}

commitd_plugin plugin(const char* name, int (*init)(const commitd_host*)) {
  commitd_plugin plugin{};
  plugin.interface_version = COMMITD_PLUGIN_INTERFACE;
  plugin.name = name;
  plugin.license = "Apache-2.0";
  plugin.init = init;
  return plugin;
}

}  // namespace

extern "C" {
extern const commitd_plugin commitd_plugin_declarations[];
const commitd_plugin commitd_plugin_declarations[] = {
    plugin("test_throws", throw_in_init), plugin("test_hook_throws", throw_in_hook), {}};
}

// For a leak report: installs the plugin that leaks, uninstalls it, ends.
//   unload_probe DIRECTORY ON|OFF      commitd_plugin_unload
#include <cstdio>
#include <string_view>

#include "plugins/registry.h"
#include "runtime/reactor.h"

int main(int argc, char** argv) {
  using namespace commitd;
  if (argc != 3) return 2;
  plugins::Observers observers;
  observers.settings.unload = std::string_view(argv[2]) == "ON";
  plugins::Registry registry(observers);
  registry.set_directory(argv[1]);
  Status status = run_blocking(registry.install("leaky", "leaky_plugin.so"));
  if (status.ok()) status = run_blocking(registry.uninstall("leaky"));
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return 1;
}

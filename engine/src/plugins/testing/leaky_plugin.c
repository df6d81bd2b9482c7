/* Forgets what it has allocated: for leak reports (commitd_plugin_unload). */
#include "plugins/plugin_api.h"

#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static int leak_in_plugin(const commitd_host *host) {
  (void)host;
  void *volatile lost = malloc(4321);
  if (lost != NULL) memset(lost, 1, 4321);
  lost = NULL;
  return 0;
}

const commitd_plugin commitd_plugin_declarations[] = {
    {.interface_version = COMMITD_PLUGIN_INTERFACE, .name = "leaky", .license = "Apache-2.0", .init = leak_in_plugin},
    {0},
};

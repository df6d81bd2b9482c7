// MySQL's semisync plugins, linked in under the names of their libraries. What a commit waits for is decided
// by the commit pipeline's gate, whether they are installed or not: durability must not hang on a plugin.
// Installed, they look at the acknowledgements wherever MySQL's do, and are observers like any other.
#pragma once

#include <functional>

#include "plugins/registry.h"
#include "replication/ack_tracker.h"

namespace commitd::replication {

struct SemisyncUse {
  std::function<bool()> source_enabled;  // rpl_semi_sync_source_enabled, as it is in force
  std::function<bool()> receiver_acknowledges;
};

// All of it outlives what is installed.
void link_in_semisync(plugins::Registry& registry, AckTracker& acknowledgements, const SemisyncUse& use);

}  // namespace commitd::replication

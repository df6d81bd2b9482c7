#include "replication/semisync_plugins.h"

namespace commitd::replication {
namespace {

constexpr uint16_t kVersion = 0x0100;

// Whether anybody waits to be told: under LOCK_binlog_, as MySQL's hooks look.
void look(void* data) {
  (void)static_cast<AckTracker*>(data)->announced();
}

int observe_source(const commitd_host* host, AckTracker& acknowledgements) {
  commitd_transaction_observer transactions{};
  transactions.data = &acknowledgements;
  transactions.after_commit = [](void* data, const commitd_transaction*) { look(data); };
  commitd_storage_observer storage{};
  storage.data = &acknowledgements;
  storage.after_flush = [](void* data, const char*, uint64_t) { look(data); };
  storage.after_sync = storage.after_flush;
  commitd_transmit_observer transmit{};
  transmit.data = &acknowledgements;
  transmit.transmit_start = [](void*, const commitd_reader* reader) -> int {
    return reader->semisync != 0 ? COMMITD_OBSERVE : COMMITD_DONT_OBSERVE;
  };
  transmit.before_send_event = [](void* data, const commitd_reader*, const commitd_event*) {
    look(data);
    return 0;
  };
  transmit.after_send_event = [](void* data, const commitd_reader*, const commitd_event*) { look(data); };
  return host->observe_transactions(host, &transactions) + host->observe_storage(host, &storage) +
         host->observe_transmit(host, &transmit);
}

plugins::LinkedIn linked_in(const char* name, const char* library, const char* description) {
  plugins::LinkedIn result;
  result.library = library;
  result.plugin.interface_version = COMMITD_PLUGIN_INTERFACE;
  result.plugin.name = name;
  result.plugin.author = "commitlab";
  result.plugin.description = description;
  result.plugin.license = "Apache-2.0";
  result.plugin.version = kVersion;
  return result;
}

plugins::LinkedIn source_plugin(const char* name, const char* library, AckTracker& acknowledgements,
                                std::function<bool()> enabled) {
  auto result = linked_in(name, library, "Source-side semi-synchronous replication.");
  result.init = [&acknowledgements](const commitd_host* host) {
    return observe_source(host, acknowledgements);
  };
  result.why_in_use = [&acknowledgements, enabled = std::move(enabled)]() -> const char* {
    if (acknowledgements.attached() > 0)
      return "Stop any active semisynchronous replicas of this source first.";
    return enabled() ? "SET GLOBAL rpl_semi_sync_source_enabled = OFF first." : nullptr;
  };
  return result;
}

// Acknowledging is the receiver's own business, in the order of its log: there is nothing to observe for.
plugins::LinkedIn replica_plugin(const char* name, const char* library, std::function<bool()> acknowledges) {
  auto result = linked_in(name, library, "Replica-side semi-synchronous replication.");
  result.init = [](const commitd_host*) { return 0; };
  result.why_in_use = [acknowledges = std::move(acknowledges)]() -> const char* {
    return acknowledges() ? "Stop any active semisynchronous I/O threads on this replica first." : nullptr;
  };
  return result;
}

void link_in_beside(plugins::Registry& registry, plugins::LinkedIn one, plugins::LinkedIn other) {
  one.excludes = other.plugin.name;
  other.excludes = one.plugin.name;
  registry.link_in(std::move(one));
  registry.link_in(std::move(other));
}

}  // namespace

void link_in_semisync(plugins::Registry& registry, AckTracker& acknowledgements, const SemisyncUse& use) {
  link_in_beside(
      registry,
      source_plugin("rpl_semi_sync_source", "semisync_source.so", acknowledgements, use.source_enabled),
      source_plugin("rpl_semi_sync_master", "semisync_master.so", acknowledgements, use.source_enabled));
  link_in_beside(registry,
                 replica_plugin("rpl_semi_sync_replica", "semisync_replica.so", use.receiver_acknowledges),
                 replica_plugin("rpl_semi_sync_slave", "semisync_slave.so", use.receiver_acknowledges));
}

}  // namespace commitd::replication

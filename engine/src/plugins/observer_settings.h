// How observers are called. The defaults are the ways that cost nothing; the others are what MySQL once did,
// for comparison (R1 to R4, R14 in information_schema.commitd_regressions).
#pragma once

#include <atomic>
#include <cstdint>

namespace commitd::plugins {

enum class ObserverLocking : uint8_t { LockFree, Mutex, RwLock };  // commitd_observer_locking

struct ObserverSettings {
  std::atomic<ObserverLocking> locking{ObserverLocking::LockFree};
  // commitd_observe_every_dump: observers see the events of readers that none of them asked for.
  std::atomic<bool> every_dump{false};
  // commitd_after_commit_hook=statements: after_commit for every statement, three times for a definition.
  std::atomic<bool> after_statements{false};
  // commitd_plugin_unload: a library that is uninstalled goes from memory.
  std::atomic<bool> unload{false};
};

}  // namespace commitd::plugins

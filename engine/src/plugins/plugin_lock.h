// LOCK_plugin, as MySQL had it: who calls an observer notes with it that the plugin is in use, and with it
// again that it is not. Only for commitd_observer_locking=mutex and rwlock.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "observe/mutex.h"
#include "plugins/observer_settings.h"

namespace commitd::plugins {

class PluginLock {
 public:
  using References = std::atomic<uint64_t>;

  void take(ObserverLocking how, References& plugin) {
    with(how, [&] { plugin.fetch_add(1, std::memory_order_relaxed); });
  }
  // All that one call has taken, under one lock.
  void give_back(ObserverLocking how, std::span<References* const> taken) {
    with(how, [&] {
      for (References* plugin : taken) plugin->fetch_sub(1, std::memory_order_relaxed);
    });
  }

 private:
  template <class Change>
  void with(ObserverLocking how, Change change) {
    if (how == ObserverLocking::Mutex) {
      MutexLock lock(mutex_);
      change();
    } else {
      SharedLock lock(shared_);
      change();
    }
  }

  observe::Mutex mutex_{"wait/synch/mutex/sql/LOCK_plugin"};
  observe::SharedMutex shared_{"wait/synch/rwlock/sql/LOCK_plugin"};
};

}  // namespace commitd::plugins

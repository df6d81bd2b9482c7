// The observers of one kind, and how they are called. Calling takes no lock; taking one away waits until
// nobody is in it.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "observe/mutex.h"
#include "plugins/observer_settings.h"
#include "plugins/plugin_lock.h"
#include "plugins/visitors.h"

namespace commitd::plugins {

// A plugin as its observers know it.
struct Owner {
  PluginLock::References references{0};
};

template <class Observer>
class Delegate {
 public:
  // `lock_event`: of the lock around the list of observers that MySQL has here.
  Delegate(const ObserverSettings& settings, PluginLock& plugin_lock, std::string_view lock_event)
      : settings_(settings), plugin_lock_(plugin_lock), list_lock_(lock_event) {}

  bool any() const { return any_.load(std::memory_order_relaxed); }

  // Calls `call` with each observer.
  template <class Call>
  void each(Call call) {
    const Visitors::Visit visit(visitors_);
    const List& list = *list_.load(std::memory_order_seq_cst);
    const ObserverLocking locking = settings_.locking.load(std::memory_order_relaxed);
    if (locking != ObserverLocking::LockFree) return each_with_locks(list, locking, call);
    for (const Entry& entry : list) call(entry.observer);
  }

  void add(Owner& owner, const Observer& observer) {
    MutexLock lock(change_);
    auto next = std::make_unique<List>(*owned_);
    next->push_back({observer, &owner});
    publish(std::move(next));
  }

  // None of the owner's runs any more when it returns.
  void remove(const Owner& owner) {
    MutexLock lock(change_);
    auto next = std::make_unique<List>(*owned_);
    std::erase_if(*next, [&](const Entry& entry) { return entry.owner == &owner; });
    if (next->size() != owned_->size()) publish(std::move(next));
  }

 private:
  struct Entry {
    Observer observer;
    Owner* owner;
  };
  using List = std::vector<Entry>;

  // What MySQL's FOREACH_OBSERVER did.
  template <class Call>
  void each_with_locks(const List& list, ObserverLocking locking, Call call) {
    SharedLock lock(list_lock_);
    absl::InlinedVector<PluginLock::References*, 8> taken;
    for (const Entry& entry : list) {
      plugin_lock_.take(locking, entry.owner->references);
      taken.push_back(&entry.owner->references);
      call(entry.observer);
    }
    plugin_lock_.give_back(locking, {taken.data(), taken.size()});
  }

  void publish(std::unique_ptr<const List> next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_) {
    list_.store(next.get(), std::memory_order_seq_cst);
    any_.store(!next->empty(), std::memory_order_relaxed);
    visitors_.wait_until_gone();
    owned_ = std::move(next);
  }

  const ObserverSettings& settings_;
  PluginLock& plugin_lock_;
  observe::SharedMutex list_lock_;
  Visitors visitors_;
  Mutex change_;
  std::unique_ptr<const List> owned_ ABSL_GUARDED_BY(change_) = std::make_unique<List>();
  std::atomic<const List*> list_{owned_.get()};
  std::atomic<bool> any_{false};
};

}  // namespace commitd::plugins

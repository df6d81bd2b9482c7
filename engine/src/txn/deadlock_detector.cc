#include "txn/deadlock_detector.h"

#include <sys/prctl.h>

#include "txn/lock_metrics.h"

namespace commitd::txn {

DeadlockDetector::DeadlockDetector(LockWaits& waits, observe::Mutex& graph_mutex)
    : waits_(waits),
      graph_mutex_(graph_mutex),
      incremental_(incremental_deadlock_detection()),
      recursive_search_(recursive_deadlock_detection()) {}

DeadlockDetector::~DeadlockDetector() {
  {
    std::lock_guard lock(background_mutex_);
    stopping_ = true;
  }
  background_work_.notify_one();
  if (background_.joinable()) background_.join();
}

void DeadlockDetector::set_policy(DeadlockPolicyName name) {
  {
    std::lock_guard graph(graph_mutex_);
    policy_ = name;
    recursive_ = enabled_ && name == DeadlockPolicyName::Recursive;
  }
  sweep();
}

void DeadlockDetector::set_enabled(bool enabled) {
  {
    std::lock_guard graph(graph_mutex_);
    enabled_ = enabled;
    recursive_ = enabled && policy_ == DeadlockPolicyName::Recursive;
  }
  sweep();
}

void DeadlockDetector::wait_began(const LockOwner* requester) {
  if (!enabled_) return;
  switch (policy_) {
    case DeadlockPolicyName::Incremental:
      return search_from(requester, *incremental_);
    case DeadlockPolicyName::Recursive:
      return search_from(requester, *recursive_search_);
    case DeadlockPolicyName::Background:
      ask_background();
  }
}

void DeadlockDetector::edges_changed() {
  if (enabled_.load(std::memory_order_relaxed) &&
      policy_.load(std::memory_order_relaxed) == DeadlockPolicyName::Background)
    ask_background();
}

// When somebody else gives up, another cycle may go through the requester still.
void DeadlockDetector::search_from(const LockOwner* requester, DeadlockPolicy& policy) {
  const lock_metrics::SearchTimer timer;
  const LockOwner* victim = nullptr;
  do {
    const DeadlockSearch found = policy.search(requester, waits_);
    lock_metrics::searched(found.steps);
    victim = found.victim;
    if (victim != nullptr) end(found);
  } while (victim != nullptr && victim != requester);
}

// The victim may have got its lock in the last moment: then there was no deadlock.
void DeadlockDetector::end(const DeadlockSearch& found) {
  DeadlockReport report = describe(found);
  if (!waits_.give_up(found.victim)) return;
  last_ = std::move(report);
  lock_metrics::deadlock(found.gave_up);
}

DeadlockReport DeadlockDetector::describe(const DeadlockSearch& found) const {
  DeadlockReport report;
  report.at = std::chrono::system_clock::now();
  report.search_gave_up = found.gave_up;
  const LockOwners alone(1, found.victim);
  for (const LockOwner* owner : found.cycle.empty() ? alone : found.cycle) {
    report.members.push_back(waits_.describe(owner));
    report.members.back().victim = owner == found.victim;
  }
  return report;
}

std::optional<DeadlockReport> DeadlockDetector::last_deadlock() const {
  std::lock_guard graph(graph_mutex_);
  return last_;
}

// The graph is copied under its mutex, walked without it, and what was found is looked at again with it.
void DeadlockDetector::sweep() {
  if (!enabled_) return;
  const lock_metrics::SearchTimer timer;
  std::unique_lock graph(graph_mutex_);
  WaitColouring colouring(waits_);
  graph.unlock();
  for (LockOwners cycle = colouring.next_cycle(); !cycle.empty(); cycle = colouring.next_cycle()) {
    std::lock_guard again(graph_mutex_);
    if (!still_stands(cycle, waits_)) continue;
    DeadlockSearch found;
    found.victim = lightest_of(cycle, waits_);
    found.cycle = std::move(cycle);
    end(found);
  }
  lock_metrics::searched(colouring.steps());
}

void DeadlockDetector::ask_background() {
  {
    std::lock_guard lock(background_mutex_);
    asked_ = true;
    if (!background_.joinable()) background_ = std::thread([this] { run_background(); });
  }
  background_work_.notify_one();
}

// However many waits begin while it looks, one more look suffices.
void DeadlockDetector::run_background() {
  prctl(PR_SET_NAME, "deadlocks");
  std::unique_lock lock(background_mutex_);
  while (true) {
    background_work_.wait(lock, [this] { return asked_ || stopping_; });
    if (stopping_) return;
    asked_ = false;
    lock.unlock();
    sweep();
    lock.lock();
  }
}

}  // namespace commitd::txn

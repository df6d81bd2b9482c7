#include <algorithm>

#include <absl/container/flat_hash_set.h>

#include "txn/deadlock_policy.h"

namespace commitd::txn {

namespace {

class RecursiveSearch {
 public:
  RecursiveSearch(const LockOwner* start, const WaitGraph& graph) : start_(start), graph_(graph) {}

  DeadlockSearch run() {
    switch (search_from(start_, 0)) {
      case Outcome::Nothing:
        break;
      case Outcome::TooFar:
        result_.gave_up = true;
        result_.victim = start_;
        break;
      case Outcome::Cycle:
        take_cycle();
    }
    return std::move(result_);
  }

 private:
  enum class Outcome { Nothing, Cycle, TooFar };

  Outcome search_from(const LockOwner* waiter, size_t depth) {
    if (searched_.contains(waiter)) return Outcome::Nothing;
    ++visits_;
    path_.push_back(waiter);
    LockOwners ahead;
    graph_.all_waited_for(waiter, ahead);
    for (const LockOwner* other : ahead) {
      ++result_.steps;
      if (other == start_) return Outcome::Cycle;
      if (depth >= kDeepestRecursiveSearch || visits_ > kMostRecursiveVisits) return Outcome::TooFar;
      const Outcome outcome = search_from(other, depth + 1);
      if (outcome != Outcome::Nothing) return outcome;
    }
    path_.pop_back();
    searched_.insert(waiter);
    return Outcome::Nothing;
  }

  // path_ leads from the requester to the one that waits for it.
  void take_cycle() {
    result_.cycle.push_back(start_);
    result_.cycle.insert(result_.cycle.end(), path_.rbegin(), path_.rend() - 1);
    if (!still_stands(result_.cycle, graph_)) return;
    const LockOwner* closes = path_.back();
    result_.victim = graph_.weight(closes) < graph_.weight(start_) ? closes : start_;
  }

  const LockOwner* const start_;
  const WaitGraph& graph_;
  LockOwners path_;
  absl::flat_hash_set<const LockOwner*> searched_;  // nothing leads from them to the start
  size_t visits_ = 0;
  DeadlockSearch result_;
};

class RecursiveDetection final : public DeadlockPolicy {
 public:
  DeadlockSearch search(const LockOwner* requester, const WaitGraph& graph) override {
    return RecursiveSearch(requester, graph).run();
  }
};

}  // namespace

std::unique_ptr<DeadlockPolicy> recursive_deadlock_detection() {
  return std::make_unique<RecursiveDetection>();
}

}  // namespace commitd::txn

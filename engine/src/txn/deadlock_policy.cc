#include "txn/deadlock_policy.h"

#include <algorithm>

#include <absl/container/flat_hash_map.h>

namespace commitd::txn {

namespace {

// A search that meets more owners than this gives up; the lock wait timeout is left to end such a tangle.
constexpr size_t kMostOwners = 10'000;

class IncrementalDetection final : public DeadlockPolicy {
 public:
  bool must_give_up(const LockOwner* requester, const WaitGraph& graph) override {
    const auto cycle = find_cycle(requester, graph);
    return !cycle.empty() && still_stands(cycle, graph);
  }

 private:
  using Owners = std::vector<const LockOwner*>;

  // Breadth first; `reached_from` is the tree of the search.
  static Owners find_cycle(const LockOwner* requester, const WaitGraph& graph) {
    absl::flat_hash_map<const LockOwner*, const LockOwner*> reached_from;
    Owners frontier{requester}, holders;
    for (size_t i = 0; i < frontier.size() && frontier.size() < kMostOwners; ++i) {
      holders.clear();
      graph.holders_waited_for(frontier[i], holders);
      for (const LockOwner* holder : holders) {
        if (holder == requester) return path_to(frontier[i], requester, reached_from);
        if (reached_from.emplace(holder, frontier[i]).second) frontier.push_back(holder);
      }
    }
    return {};
  }

  static Owners path_to(const LockOwner* last, const LockOwner* requester,
                        const absl::flat_hash_map<const LockOwner*, const LockOwner*>& reached_from) {
    Owners path{last};
    while (path.back() != requester) path.push_back(reached_from.at(path.back()));
    return path;
  }

  // Edges were read one after the other while locks may have been released: only a cycle whose edges are all
  // there a second time is one. `cycle` runs backwards, from the owner that waits for the requester to the
  // requester.
  static bool still_stands(const Owners& cycle, const WaitGraph& graph) {
    Owners holders;
    for (size_t i = 0; i < cycle.size(); ++i) {
      const LockOwner* waited_for = i == 0 ? cycle.back() : cycle[i - 1];
      holders.clear();
      graph.holders_waited_for(cycle[i], holders);
      if (std::find(holders.begin(), holders.end(), waited_for) == holders.end()) return false;
    }
    return true;
  }
};

class NoDetection final : public DeadlockPolicy {
 public:
  bool must_give_up(const LockOwner*, const WaitGraph&) override { return false; }
};

}  // namespace

std::unique_ptr<DeadlockPolicy> incremental_deadlock_detection() {
  return std::make_unique<IncrementalDetection>();
}
std::unique_ptr<DeadlockPolicy> no_deadlock_detection() {
  return std::make_unique<NoDetection>();
}

}  // namespace commitd::txn

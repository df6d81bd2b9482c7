#include <algorithm>

#include <absl/container/flat_hash_map.h>

#include "txn/deadlock_policy.h"

namespace commitd::txn {

namespace {

// A search that meets more owners than this gives up; the lock wait timeout is left to end such a tangle.
constexpr size_t kMostOwners = 10'000;

class IncrementalDetection final : public DeadlockPolicy {
 public:
  DeadlockSearch search(const LockOwner* requester, const WaitGraph& graph) override {
    DeadlockSearch result;
    result.cycle = find_cycle(requester, graph, result.steps);
    if (still_stands(result.cycle, graph)) result.victim = lightest_of(result.cycle, graph);
    return result;
  }

 private:
  using Tree = absl::flat_hash_map<const LockOwner*, const LockOwner*>;

  static LockOwners find_cycle(const LockOwner* requester, const WaitGraph& graph, uint64_t& steps) {
    Tree reached_from;
    LockOwners frontier{requester}, holders;
    for (size_t i = 0; i < frontier.size() && frontier.size() < kMostOwners; ++i) {
      holders.clear();
      graph.holders_waited_for(frontier[i], holders);
      for (const LockOwner* holder : holders) {
        ++steps;
        if (holder == requester) return path_to(frontier[i], requester, reached_from);
        if (reached_from.emplace(holder, frontier[i]).second) frontier.push_back(holder);
      }
    }
    return {};
  }

  // The requester comes first, then the one that waits for it, and so on.
  static LockOwners path_to(const LockOwner* last, const LockOwner* requester, const Tree& reached_from) {
    LockOwners path{requester};
    for (const LockOwner* at = last; at != requester; at = reached_from.at(at)) path.push_back(at);
    return path;
  }
};

}  // namespace

std::unique_ptr<DeadlockPolicy> incremental_deadlock_detection() {
  return std::make_unique<IncrementalDetection>();
}

}  // namespace commitd::txn

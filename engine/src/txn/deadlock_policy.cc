#include "txn/deadlock_policy.h"

#include <algorithm>

namespace commitd::txn {

bool still_stands(const LockOwners& cycle, const WaitGraph& graph) {
  LockOwners others;
  for (size_t i = 0; i < cycle.size(); ++i) {
    const LockOwner* waited_for = i == 0 ? cycle.back() : cycle[i - 1];
    others.clear();
    graph.all_waited_for(cycle[i], others);
    if (std::find(others.begin(), others.end(), waited_for) != others.end()) continue;
    // Those that hold a lock count for everybody in its queue, whatever its mode.
    others.clear();
    graph.holders_waited_for(cycle[i], others);
    if (std::find(others.begin(), others.end(), waited_for) == others.end()) return false;
  }
  return !cycle.empty();
}

const LockOwner* lightest_of(const LockOwners& cycle, const WaitGraph& graph) {
  return *std::min_element(cycle.begin(), cycle.end(), [&](const LockOwner* left, const LockOwner* right) {
    return graph.weight(left) < graph.weight(right);
  });
}

}  // namespace commitd::txn

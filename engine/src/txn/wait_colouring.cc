#include <absl/container/flat_hash_map.h>

#include "txn/deadlock_policy.h"

namespace commitd::txn {

WaitColouring::WaitColouring(const WaitGraph& graph) {
  graph.waiters(owners_);
  absl::flat_hash_map<const LockOwner*, size_t> index;
  for (size_t i = 0; i < owners_.size(); ++i) index.emplace(owners_[i], i);
  waits_for_.assign(owners_.size(), kNone);
  colour_.assign(owners_.size(), kNone);
  LockOwners holders;
  for (size_t i = 0; i < owners_.size(); ++i) {
    ++steps_;
    holders.clear();
    graph.holders_waited_for(owners_[i], holders);
    if (holders.empty()) continue;
    const auto found = index.find(holders.front());
    if (found != index.end()) waits_for_[i] = found->second;
  }
}

LockOwners WaitColouring::next_cycle() {
  for (; next_start_ < owners_.size(); ++next_start_) {
    size_t at = next_start_;
    while (at != kNone && colour_[at] == kNone) {
      ++steps_;
      colour_[at] = next_start_;
      at = waits_for_[at];
    }
    if (at == kNone || colour_[at] != next_start_) continue;
    // The walk has met itself. Forwards each waits for the next, so the cycle is read the other way round.
    LockOwners cycle;
    size_t member = at;
    do {
      cycle.insert(cycle.begin(), owners_[member]);
      member = waits_for_[member];
    } while (member != at);
    ++next_start_;
    return cycle;
  }
  return {};
}

}  // namespace commitd::txn

// Every policy against an oracle that knows nothing of cycles: whoever still waits after everybody who can
// run has finished is deadlocked.
#include "txn/deadlock_policy.h"

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "txn/lock_owner.h"
#include "txn/lock_queue.h"

namespace commitd::txn {
namespace {

// Owners and locks without threads; owners are numbers. What was done is remembered, so that a copy can be
// made.
class Scene final : public WaitGraph {
 public:
  explicit Scene(size_t owners) : owners_(owners) {}
  Scene(const Scene& other) : owners_(other.owners_.size()) {
    for (const Step& step : other.history_) redo(step);
  }

  // True: it waits.
  bool request(size_t owner, const std::string& key, LockMode mode) {
    history_.push_back({Step::Request, owner, key, mode});
    auto request = std::make_unique<Request>();
    request->owner = &owners_[owner];
    request->mode = mode;
    request->parker = &request->wakes;
    request->key = queues_.try_emplace(key).first->first;
    request->queue = &queues_[key];
    for (const auto& held : held_[owner]) {
      if (held->key != key) continue;
      if (held->mode == LockMode::Exclusive || mode == LockMode::Shared) return false;
      request->upgrades = held.get();
    }
    request->queue->request(*request);
    waiting_[owner] = std::move(request);
    settle();
    return waits(owner);
  }

  void withdraw(size_t owner) {
    history_.push_back({Step::Withdraw, owner, {}, {}});
    const auto request = std::move(waiting_.at(owner));
    waiting_.erase(owner);
    request->queue->remove(*request);
    settle();
  }

  void finish(size_t owner) {
    history_.push_back({Step::Finish, owner, {}, {}});
    const auto held = std::move(held_[owner]);
    held_.erase(owner);
    for (const auto& request : held) request->queue->remove(*request);
    settle();
  }

  bool waits(size_t owner) const { return waiting_.contains(owner); }
  size_t waiter_count() const { return waiting_.size(); }
  size_t owner_count() const { return owners_.size(); }
  const LockOwner* name(size_t owner) const { return &owners_[owner]; }
  size_t number(const LockOwner* name) const {
    size_t i = 0;
    while (&owners_.at(i) != name) ++i;
    return i;
  }

  std::set<size_t> deadlocked() const {
    Scene copy(*this);
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t i = 0; i < copy.owners_.size(); ++i) {
        if (copy.waits(i) || copy.held_[i].empty()) continue;
        copy.finish(i);
        progress = true;
      }
    }
    std::set<size_t> stuck;
    for (const auto& [owner, request] : copy.waiting_) stuck.insert(owner);
    return stuck;
  }

  void holders_waited_for(const LockOwner* waiter, LockOwners& holders) const override {
    const Request* request = request_of(waiter);
    if (request == nullptr) return;
    for (const LockRequest* holder : request->queue->holders()) {
      if (holder->owner != waiter) holders.push_back(holder->owner);
    }
  }
  void all_waited_for(const LockOwner* waiter, LockOwners& others) const override {
    const Request* request = request_of(waiter);
    if (request == nullptr) return;
    for (const LockRequest* other : request->queue->in_the_way_of(*request)) others.push_back(other->owner);
  }
  void waiters(LockOwners& all) const override {
    for (const auto& [owner, request] : waiting_) all.push_back(name(owner));
  }
  uint64_t weight(const LockOwner* waiter) const override { return number(waiter) % 3; }

 private:
  struct Request : LockRequest {
    Parker wakes;
  };
  struct Step {
    enum What { Request, Withdraw, Finish } what;
    size_t owner;
    std::string key;
    LockMode mode;
  };

  void redo(const Step& step) {
    if (step.what == Step::Request) request(step.owner, step.key, step.mode);
    if (step.what == Step::Withdraw) withdraw(step.owner);
    if (step.what == Step::Finish) finish(step.owner);
  }

  const Request* request_of(const LockOwner* waiter) const {
    const auto found = waiting_.find(number(waiter));
    return found == waiting_.end() ? nullptr : found->second.get();
  }

  // Waits that have been granted become holds.
  void settle() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (!at->second->granted) {
        ++at;
        continue;
      }
      if (at->second->upgrades == nullptr) held_[at->first].push_back(std::move(at->second));
      at = waiting_.erase(at);
    }
  }

  std::deque<LockOwner> owners_;
  std::map<std::string, LockQueue> queues_;
  std::map<size_t, std::unique_ptr<Request>> waiting_;
  std::map<size_t, std::vector<std::unique_ptr<Request>>> held_;
  std::vector<Step> history_;
};

// Locks and unlocks at random; `after` is told of each step that changed edges, with whoever began to wait.
class RandomLocking {
 public:
  explicit RandomLocking(unsigned seed) : random_(seed), scene(2 + random_() % 7) {}

  void run(size_t steps, const std::function<void(std::optional<size_t>)>& after) {
    for (size_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      const size_t owner = random_() % scene.owner_count();
      if (scene.waits(owner)) continue;
      if (random_() % 12 == 0) {
        scene.finish(owner);
        after(std::nullopt);
        continue;
      }
      const std::string key(1, static_cast<char>('a' + random_() % 5));
      const LockMode mode = random_() % 3 == 0 ? LockMode::Shared : LockMode::Exclusive;
      if (scene.request(owner, key, mode)) after(owner);
    }
  }

 private:
  std::mt19937 random_;

 public:
  Scene scene;
};

constexpr unsigned kScenes = 600;
constexpr size_t kSteps = 60;

// How many victims there were.
size_t check_policy(DeadlockPolicy& policy) {
  size_t victims = 0;
  for (unsigned seed = 1; seed <= kScenes; ++seed) {
    RandomLocking locking(seed);
    Scene& scene = locking.scene;
    locking.run(kSteps, [&](std::optional<size_t> waiter) {
      if (!waiter) return;
      while (scene.waits(*waiter)) {
        const std::set<size_t> deadlocked = scene.deadlocked();
        const DeadlockSearch found = policy.search(scene.name(*waiter), scene);
        EXPECT_EQ(found.victim != nullptr, !deadlocked.empty()) << "seed " << seed;
        if (found.victim == nullptr) break;
        EXPECT_TRUE(deadlocked.contains(scene.number(found.victim))) << "seed " << seed;
        EXPECT_TRUE(still_stands(found.cycle, scene));
        scene.withdraw(scene.number(found.victim));
        ++victims;
      }
    });
  }
  return victims;
}

TEST(DeadlockPolicies, IncrementalFindsEveryDeadlockAndNoOther) {
  EXPECT_GT(check_policy(*incremental_deadlock_detection()), 2000u);
}

TEST(DeadlockPolicies, RecursiveFindsEveryDeadlockAndNoOther) {
  EXPECT_GT(check_policy(*recursive_deadlock_detection()), 2000u);
}

size_t sweep(Scene& scene) {
  size_t victims = 0;
  const std::set<size_t> deadlocked = scene.deadlocked();
  WaitColouring colouring(scene);
  for (LockOwners cycle = colouring.next_cycle(); !cycle.empty(); cycle = colouring.next_cycle()) {
    EXPECT_TRUE(still_stands(cycle, scene));
    const size_t victim = scene.number(lightest_of(cycle, scene));
    EXPECT_TRUE(deadlocked.contains(victim));
    scene.withdraw(victim);
    ++victims;
  }
  return victims;
}

// It looks at one edge per waiter: a deadlock that it does not see yet must be seen when those that can run
// have finished.
TEST(DeadlockPolicies, ColouringFindsEveryDeadlockInTheEndAndNoOther) {
  size_t victims = 0;
  for (unsigned seed = 1; seed <= kScenes; ++seed) {
    RandomLocking locking(seed);
    Scene& scene = locking.scene;
    locking.run(kSteps, [&](std::optional<size_t>) { victims += sweep(scene); });
    for (size_t round = 0; scene.waiter_count() > 0; ++round) {
      ASSERT_LE(round, scene.owner_count()) << "a deadlock was not found, seed " << seed;
      for (size_t i = 0; i < scene.owner_count(); ++i) {
        if (!scene.waits(i)) scene.finish(i);
      }
      victims += sweep(scene);
    }
  }
  EXPECT_GT(victims, 2000u);
}

// n clients want one row: what the searches of all of them cost.
struct HotRow {
  uint64_t steps = 0;
  Scene scene;
  HotRow(size_t waiters, DeadlockPolicy* policy) : scene(waiters + 1) {
    scene.request(0, "row", LockMode::Exclusive);
    for (size_t i = 1; i <= waiters; ++i) {
      EXPECT_TRUE(scene.request(i, "row", LockMode::Exclusive));
      if (policy != nullptr) steps += policy->search(scene.name(i), scene).steps;
    }
  }
};

TEST(DeadlockPolicies, OnAHotRowRecursionCostsTheCubeAndTheOthersOneStepPerWaiter) {
  constexpr uint64_t n = 60;
  EXPECT_EQ(HotRow(n, incremental_deadlock_detection().get()).steps, n);
  EXPECT_EQ(HotRow(n, recursive_deadlock_detection().get()).steps, n * (n + 1) * (n + 2) / 6);
  HotRow row(n, nullptr);
  WaitColouring colouring(row.scene);
  EXPECT_TRUE(colouring.next_cycle().empty());
  EXPECT_EQ(colouring.steps(), 2 * n);
}

// Owner i waits for owner i - 1, all the way down.
void make_chain(Scene& scene) {
  for (size_t i = 0; i < scene.owner_count(); ++i) {
    scene.request(i, std::to_string(i), LockMode::Exclusive);
    if (i > 0) scene.request(i, std::to_string(i - 1), LockMode::Exclusive);
  }
}

TEST(DeadlockPolicies, ARecursiveSearchThatGetsTooDeepCountsAsADeadlock) {
  Scene deep(kDeepestRecursiveSearch + 2);
  make_chain(deep);
  const LockOwner* last = deep.name(deep.owner_count() - 1);
  const DeadlockSearch given_up = recursive_deadlock_detection()->search(last, deep);
  EXPECT_TRUE(given_up.gave_up);
  EXPECT_EQ(given_up.victim, last);
  EXPECT_EQ(incremental_deadlock_detection()->search(last, deep).victim, nullptr);

  Scene within(kDeepestRecursiveSearch + 1);
  make_chain(within);
  const LockOwner* end = within.name(within.owner_count() - 1);
  EXPECT_EQ(recursive_deadlock_detection()->search(end, within).victim, nullptr);
}

}  // namespace
}  // namespace commitd::txn

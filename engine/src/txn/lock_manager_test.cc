#include "txn/lock_manager.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "txn/definition_gate.h"
#include "txn/lock_owner.h"

namespace commitd::txn {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return Clock::now() + 20ms;
}
Deadline later() {
  return Clock::now() + 60s;
}

int code(const Status& status) {
  return status.ok() ? 0 : status.error().code;
}

// What a spawned coroutine that locks one key came to; -1 while it waits.
struct Attempt {
  int outcome = -1;
  bool waits() const { return outcome == -1; }
};

Task<void> attempt_lock(LockManager& locks, LockOwner& owner, std::string key, LockMode mode,
                        Deadline deadline, Attempt& attempt) {
  attempt.outcome = code(co_await locks.lock(owner, key, mode, deadline));
}

void start(LockManager& locks, LockOwner& owner, std::string key, LockMode mode, Attempt& attempt,
           Deadline deadline = later()) {
  Reactor::current()->spawn(attempt_lock(locks, owner, std::move(key), mode, deadline, attempt));
}

// Lets what was spawned or woken run until it waits again.
Task<void> settle() {
  co_await sleep_until(Clock::now() + 5ms);
}

Task<void> shared_locks_go_together() {
  LockManager locks;
  LockOwner a, b, c;
  EXPECT_TRUE(locks.try_lock(a, "k", LockMode::Shared));
  EXPECT_TRUE(locks.try_lock(b, "k", LockMode::Shared));
  EXPECT_FALSE(locks.try_lock(c, "k", LockMode::Exclusive));
  locks.release_all(a);
  EXPECT_FALSE(locks.try_lock(c, "k", LockMode::Exclusive));
  locks.release_all(b);
  EXPECT_TRUE(locks.try_lock(c, "k", LockMode::Exclusive));
  EXPECT_TRUE(locks.try_lock(c, "k", LockMode::Shared));
  locks.release_all(c);
  co_return;
}
TEST(LockManager, SharedLocksGoTogetherAndKeepExclusiveOnesOut) {
  run_blocking(shared_locks_go_together());
}

Task<void> first_come_first_served() {
  LockManager locks;
  LockOwner holder, first, second, reader;
  Attempt first_attempt, second_attempt, reader_attempt;
  locks.try_lock(holder, "k", LockMode::Shared);
  start(locks, first, "k", LockMode::Exclusive, first_attempt);
  co_await settle();
  start(locks, second, "k", LockMode::Exclusive, second_attempt);
  start(locks, reader, "k", LockMode::Shared, reader_attempt);
  co_await settle();
  EXPECT_TRUE(reader_attempt.waits()) << "a reader must not pass a waiting writer";
  locks.release_all(holder);
  co_await settle();
  EXPECT_EQ(first_attempt.outcome, 0);
  EXPECT_TRUE(second_attempt.waits());
  locks.release_all(first);
  co_await settle();
  EXPECT_EQ(second_attempt.outcome, 0);
  EXPECT_TRUE(reader_attempt.waits());
  locks.release_all(second);
  co_await settle();
  EXPECT_EQ(reader_attempt.outcome, 0);
  locks.release_all(reader);
}
TEST(LockManager, LocksAreGrantedInArrivalOrder) {
  run_blocking(first_come_first_served());
}

Task<void> upgrade() {
  LockManager locks;
  LockOwner a, b, waiter;
  Attempt upgrade_attempt, waiter_attempt;
  locks.try_lock(a, "k", LockMode::Shared);
  locks.try_lock(b, "k", LockMode::Shared);
  start(locks, waiter, "k", LockMode::Exclusive, waiter_attempt);
  start(locks, a, "k", LockMode::Exclusive, upgrade_attempt);
  co_await settle();
  EXPECT_TRUE(upgrade_attempt.waits());
  locks.release_all(b);
  co_await settle();
  EXPECT_EQ(upgrade_attempt.outcome, 0);
  EXPECT_TRUE(waiter_attempt.waits());
  EXPECT_EQ(a.lock_count(), 1u);
  locks.release_all(a);
  co_await settle();
  EXPECT_EQ(waiter_attempt.outcome, 0);
  locks.release_all(waiter);
}
TEST(LockManager, AnUpgradeWaitsForTheOtherReadersOnly) {
  run_blocking(upgrade());
}

Task<void> timeout() {
  LockManager locks;
  LockOwner holder, waiter, next;
  locks.try_lock(holder, "k", LockMode::Shared);
  Attempt next_attempt;
  Attempt attempt;
  start(locks, waiter, "k", LockMode::Exclusive, attempt, soon());
  co_await settle();
  start(locks, next, "k", LockMode::Shared, next_attempt);
  co_await sleep_until(Clock::now() + 100ms);
  EXPECT_EQ(attempt.outcome, er::kLockWaitTimeout);
  EXPECT_EQ(next_attempt.outcome, 0) << "who waited behind the one that gave up goes on";
  EXPECT_EQ(waiter.lock_count(), 0u);
  locks.release_all(holder);
  locks.release_all(next);
}
TEST(LockManager, AWaitEndsAtItsDeadline) {
  run_blocking(timeout());
}

Task<void> cycle_of(size_t count) {
  LockManager locks;
  std::vector<LockOwner> owners(count);
  std::vector<Attempt> attempts(count);
  const auto key = [](size_t i) { return "k" + std::to_string(i); };
  for (size_t i = 0; i < count; ++i) locks.try_lock(owners[i], key(i), LockMode::Exclusive);
  for (size_t i = 0; i + 1 < count; ++i) {
    start(locks, owners[i], key(i + 1), LockMode::Exclusive, attempts[i]);
    co_await settle();
    EXPECT_TRUE(attempts[i].waits());
  }
  start(locks, owners[count - 1], key(0), LockMode::Exclusive, attempts[count - 1]);
  co_await settle();
  EXPECT_EQ(attempts[count - 1].outcome, er::kLockDeadlock);
  for (size_t i = count; i-- > 0;) {
    locks.release_all(owners[i]);
    co_await settle();
    if (i > 0) {
      EXPECT_EQ(attempts[i - 1].outcome, 0);
    }
  }
}
TEST(LockManager, WhoeverClosesACycleGivesUp) {
  run_blocking(cycle_of(2));
  run_blocking(cycle_of(5));
}

Task<void> two_upgrades() {
  LockManager locks;
  LockOwner a, b;
  Attempt first, second;
  locks.try_lock(a, "k", LockMode::Shared);
  locks.try_lock(b, "k", LockMode::Shared);
  start(locks, a, "k", LockMode::Exclusive, first);
  co_await settle();
  start(locks, b, "k", LockMode::Exclusive, second);
  co_await settle();
  EXPECT_EQ(second.outcome, er::kLockDeadlock);
  EXPECT_TRUE(first.waits());
  locks.release_all(b);
  co_await settle();
  EXPECT_EQ(first.outcome, 0);
  locks.release_all(a);
}
TEST(LockManager, TwoUpgradesOfOneLockAreADeadlock) {
  run_blocking(two_upgrades());
}

// The reader waits only because of the writer in front of it; the cycle goes through both.
Task<void> cycle_through_a_queue() {
  LockManager locks;
  LockOwner holder, writer, reader;
  Attempt writer_attempt, reader_attempt, holder_attempt;
  locks.try_lock(holder, "k", LockMode::Shared);
  locks.try_lock(reader, "other", LockMode::Exclusive);
  start(locks, writer, "k", LockMode::Exclusive, writer_attempt);
  co_await settle();
  start(locks, reader, "k", LockMode::Shared, reader_attempt);
  co_await settle();
  start(locks, holder, "other", LockMode::Exclusive, holder_attempt);
  co_await settle();
  EXPECT_EQ(holder_attempt.outcome, er::kLockDeadlock);
  locks.release_all(holder);
  co_await settle();
  locks.release_all(writer);
  co_await settle();
  EXPECT_EQ(reader_attempt.outcome, 0);
  locks.release_all(reader);
}
TEST(LockManager, ACycleThroughAQueueIsFound) {
  run_blocking(cycle_through_a_queue());
}

Task<void> kill() {
  LockManager locks;
  LockOwner holder, waiter;
  Attempt attempt, again, after;
  locks.try_lock(holder, "k", LockMode::Exclusive);
  start(locks, waiter, "k", LockMode::Exclusive, attempt);
  co_await settle();
  locks.kill_wait(waiter);
  co_await settle();
  EXPECT_EQ(attempt.outcome, er::kQueryInterrupted);
  start(locks, waiter, "k", LockMode::Exclusive, again);
  co_await settle();
  EXPECT_EQ(again.outcome, er::kQueryInterrupted) << "a kill that comes just before the wait counts too";
  waiter.clear_kill();
  start(locks, waiter, "k", LockMode::Exclusive, after);
  co_await settle();
  EXPECT_TRUE(after.waits());
  locks.release_all(holder);
  co_await settle();
  EXPECT_EQ(after.outcome, 0);
  locks.release_all(waiter);
}
TEST(LockManager, AKilledWaiterStopsWaiting) {
  run_blocking(kill());
}

Task<void> table_full() {
  LockManager locks({.partitions = 4, .max_locks = 2});
  LockOwner owner;
  EXPECT_EQ(code(co_await locks.lock(owner, "a", LockMode::Shared, soon())), 0);
  EXPECT_EQ(code(co_await locks.lock(owner, "b", LockMode::Shared, soon())), 0);
  EXPECT_EQ(code(co_await locks.lock(owner, "c", LockMode::Shared, soon())), er::kLockTableFull);
  locks.release(owner, "a");
  EXPECT_EQ(code(co_await locks.lock(owner, "c", LockMode::Shared, soon())), 0);
  locks.release_all(owner);
}
TEST(LockManager, TooManyLocksAreRefused) {
  run_blocking(table_full());
}

LockManager::Options with_policy(DeadlockPolicyName name) {
  LockManager::Options options;
  options.deadlock_policy = name;
  return options;
}

// a and b each hold a key and want the other's; a asks last but has changed more.
Task<void> lightest_gives_up(DeadlockPolicyName name) {
  LockManager locks(with_policy(name));
  LockOwner a, b;
  Attempt a_attempt, b_attempt;
  a.set_connection(7);
  b.set_connection(8);
  a.begin_transaction();
  b.set_statement("update t");
  for (int i = 0; i < 5; ++i) a.row_changed();
  locks.try_lock(a, "ka", LockMode::Exclusive);
  locks.try_lock(b, "kb", LockMode::Exclusive);
  start(locks, b, "ka", LockMode::Exclusive, b_attempt);
  co_await settle();
  EXPECT_TRUE(b_attempt.waits());
  start(locks, a, "kb", LockMode::Exclusive, a_attempt);
  while (b_attempt.waits()) co_await settle();
  EXPECT_EQ(b_attempt.outcome, er::kLockDeadlock);
  EXPECT_TRUE(a_attempt.waits()) << "the victim has given up its wait, not yet its locks";
  const auto report = locks.last_deadlock();
  EXPECT_TRUE(report.has_value());
  EXPECT_EQ(report->members.size(), 2u);
  for (const auto& member : report->members) {
    EXPECT_EQ(member.victim, member.connection_id == 8);
    EXPECT_EQ(member.waits_for, member.victim ? "ka" : "kb");
    EXPECT_EQ(member.rows_changed, member.victim ? 0u : 5u);
    EXPECT_EQ(member.statement, member.victim ? "update t" : "");
  }
  locks.release_all(b);
  co_await settle();
  EXPECT_EQ(a_attempt.outcome, 0);
  locks.release_all(a);
}
TEST(LockManager, TheLightestOfACycleGivesUpAlsoWhenItWaitsAlready) {
  run_blocking(lightest_gives_up(DeadlockPolicyName::Incremental));
  run_blocking(lightest_gives_up(DeadlockPolicyName::Background));
  run_blocking(lightest_gives_up(DeadlockPolicyName::Recursive));
}

Task<void> switched_on() {
  LockManager::Options options;
  options.detect_deadlocks = false;
  LockManager locks(options);
  LockOwner a, b;
  Attempt a_attempt, b_attempt;
  locks.try_lock(a, "ka", LockMode::Exclusive);
  locks.try_lock(b, "kb", LockMode::Exclusive);
  start(locks, a, "kb", LockMode::Exclusive, a_attempt);
  start(locks, b, "ka", LockMode::Exclusive, b_attempt);
  co_await settle();
  EXPECT_TRUE(a_attempt.waits() && b_attempt.waits());
  EXPECT_FALSE(locks.last_deadlock().has_value());
  locks.set_deadlock_detect(true);
  co_await settle();
  EXPECT_NE(a_attempt.waits(), b_attempt.waits()) << "one of them gave up";
  LockOwner& victim = a_attempt.waits() ? b : a;
  locks.release_all(victim);
  co_await settle();
  EXPECT_EQ(a_attempt.outcome + b_attempt.outcome, er::kLockDeadlock);
  locks.release_all(a);
  locks.release_all(b);
}
TEST(LockManager, DetectionSwitchedOnFindsTheDeadlocksThatAreThere) {
  run_blocking(switched_on());
}

double metric(const std::string& name) {
  for (const auto& [known, value] : observe::snapshot()) {
    if (known == name) return value;
  }
  return -1;
}

Task<void> takes_global_lock() {
  constexpr const char* kTaken = "commitd_deadlock_global_lock_acquisitions_total";
  LockManager locks;
  LockOwner owner;
  locks.try_lock(owner, "k", LockMode::Exclusive);
  locks.release_all(owner);
  const double before = std::max(0.0, metric(kTaken));
  locks.set_deadlock_policy(DeadlockPolicyName::Recursive);
  locks.try_lock(owner, "k", LockMode::Exclusive);
  locks.release_all(owner);
  EXPECT_EQ(metric(kTaken), before + 2);
  locks.set_deadlock_detect(false);
  locks.try_lock(owner, "k", LockMode::Exclusive);
  locks.release_all(owner);
  EXPECT_EQ(metric(kTaken), before + 2) << "without detection there is nothing it would guard";
  co_return;
}
TEST(LockManager, OnlyTheRecursiveDetectorTakesAGlobalLock) {
  run_blocking(takes_global_lock());
}

Task<void> listed() {
  LockManager locks;
  LockOwner holder, waiter;
  Attempt attempt;
  holder.set_connection(1);
  waiter.set_connection(2);
  const std::string key = table_lock_key("db", "t");
  locks.try_lock(holder, key, LockMode::Shared);
  start(locks, waiter, key, LockMode::Exclusive, attempt);
  co_await settle();
  EXPECT_EQ(waiter.wait(), LockOwner::Wait::Table);
  const auto views = locks.locks();
  EXPECT_EQ(views.size(), 2u);
  for (const LockView& view : views) {
    EXPECT_EQ(view.key, key);
    EXPECT_EQ(view.connection_id, view.granted ? 1u : 2u);
    EXPECT_EQ(view.mode, view.granted ? LockMode::Shared : LockMode::Exclusive);
    EXPECT_EQ(view.blocked_by.size(), view.granted ? 0u : 1u);
  }
  locks.release_all(holder);
  co_await settle();
  EXPECT_EQ(waiter.wait(), LockOwner::Wait::None);
  locks.release_all(waiter);
  EXPECT_TRUE(locks.locks().empty());
}
TEST(LockManager, HoldsAndWaitsAreListed) {
  run_blocking(listed());
}

TEST(LockManager, TableLocksHaveKeysOfTheirOwn) {
  const std::string key = table_lock_key("db", "t");
  EXPECT_EQ(table_of_lock_key(key)->db, "db");
  EXPECT_EQ(table_of_lock_key(key)->table, "t");
  EXPECT_FALSE(table_of_lock_key(std::string("\0\0\0\1x\0y", 7)).has_value());
}

// Many coroutines on several threads take random locks and change what they guard; deadlocks happen and are
// retried.
struct Stress {
  static constexpr size_t kKeys = 12, kWorkers = 24, kRounds = 300, kThreads = 3;
  explicit Stress(DeadlockPolicyName name) : locks(with_policy(name)) {}
  LockManager locks;
  std::array<uint64_t, kKeys> counters{};
  std::atomic<uint64_t> expected{0}, deadlocks{0}, running{0};
};

Task<void> stress_worker(Stress& stress, unsigned seed) {
  LockOwner owner;
  for (size_t round = 0; round < Stress::kRounds;) {
    const size_t first = seed = seed * 1103515245u + 12345u, second = seed * 69069u + 1u;
    const size_t a = first / 7 % Stress::kKeys, b = second / 11 % Stress::kKeys;
    const std::string key_a = "k" + std::to_string(a), key_b = "k" + std::to_string(b);
    const LockMode mode = round % 5 == 0 ? LockMode::Shared : LockMode::Exclusive;
    Status got = co_await stress.locks.lock(owner, key_a, mode, later());
    if (got.ok()) got = co_await stress.locks.lock(owner, key_b, LockMode::Exclusive, later());
    if (got.ok()) {
      ++stress.counters[b];
      stress.expected.fetch_add(1);
      ++round;
    } else {
      EXPECT_EQ(got.error().code, er::kLockDeadlock);
      stress.deadlocks.fetch_add(1);
    }
    stress.locks.release_all(owner);
  }
  if (stress.running.fetch_sub(1) == 1) stress.running.notify_all();
}

class LockManagerStress : public ::testing::TestWithParam<DeadlockPolicyName> {};

TEST_P(LockManagerStress, NothingIsLostAndNobodyHangs) {
  Stress stress(GetParam());
  std::vector<std::unique_ptr<Reactor>> reactors;
  std::vector<std::thread> threads;
  stress.running = Stress::kWorkers;
  for (size_t i = 0; i < Stress::kThreads; ++i) reactors.push_back(std::make_unique<Reactor>("stress"));
  for (size_t i = 0; i < Stress::kWorkers; ++i) {
    Reactor& home = *reactors[i % reactors.size()];
    home.spawn(stress_worker(stress, static_cast<unsigned>(i + 1)));
  }
  for (auto& reactor : reactors) threads.emplace_back([&reactor] { reactor->run(); });
  for (uint64_t left = stress.running; left != 0; left = stress.running) stress.running.wait(left);
  for (auto& reactor : reactors) reactor->stop();
  for (auto& thread : threads) thread.join();
  uint64_t total = 0;
  for (const uint64_t counter : stress.counters) total += counter;
  EXPECT_EQ(total, stress.expected.load());
  EXPECT_EQ(total, Stress::kWorkers * Stress::kRounds);
}

INSTANTIATE_TEST_SUITE_P(Policies, LockManagerStress,
                         ::testing::Values(DeadlockPolicyName::Incremental, DeadlockPolicyName::Background,
                                           DeadlockPolicyName::Recursive));

Task<void> reads_without_locks_learn_of_definitions() {
  LockManager locks;
  LockOwner reader, alterer;
  const std::string table = table_lock_key("db", "t");
  const auto passed = definition_gate().pass();
  EXPECT_TRUE(passed.has_value());
  EXPECT_TRUE(locks.try_lock(reader, table, LockMode::Shared));
  EXPECT_TRUE(locks.try_lock(reader, "row", LockMode::Exclusive));
  EXPECT_TRUE(definition_gate().was_open_since(*passed));
  Attempt alter;
  start(locks, alterer, table, LockMode::Exclusive, alter, soon());
  while (definition_gate().pass() && alter.waits()) co_await settle();
  EXPECT_FALSE(definition_gate().was_open_since(*passed)) << "asked for is enough";
  while (alter.waits()) co_await settle();
  EXPECT_TRUE(definition_gate().pass().has_value()) << "nobody wants it any more";
  EXPECT_FALSE(definition_gate().was_open_since(*passed));
  EXPECT_TRUE(locks.try_lock(reader, table, LockMode::Exclusive));
  EXPECT_FALSE(definition_gate().pass().has_value()) << "held, after an upgrade";
  locks.release_all(reader);
  EXPECT_TRUE(definition_gate().pass().has_value());
}
TEST(LockManager, ReadsWithoutLocksLearnOfDefinitions) {
  run_blocking(reads_without_locks_learn_of_definitions());
}

}  // namespace
}  // namespace commitd::txn

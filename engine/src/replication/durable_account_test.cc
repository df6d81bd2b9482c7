#include "replication/durable_account.h"

#include <gtest/gtest.h>

#include <thread>

namespace commitd::replication {
namespace {

using std::chrono_literals::operator""s;
using Account = std::shared_ptr<DurableAccount>;

// What `note` notes on a thread of its own, as the log's does it, has been told when this returns.
Task<void> note_elsewhere(Account account, std::function<void(const Account&)> note) {
  std::thread log([account, note] { note(account); });
  co_await account->progress.wait(Clock::now() + 60s);
  log.join();
}

Task<void> what_is_durable_is_no_longer_on_the_way() {
  auto account = std::make_shared<DurableAccount>(*Reactor::current());
  account->handed(100);
  account->handed(20);
  EXPECT_EQ(account->bytes_on_the_way(), 120u);
  co_await note_elsewhere(account, [](const Account& to) { DurableAccount::note_durable(to, 100, {}); });
  EXPECT_EQ(account->bytes_on_the_way(), 20u);
  EXPECT_FALSE(account->take_newest());
}

TEST(DurableAccount, WhatIsDurableIsNoLongerOnTheWay) {
  run_blocking(what_is_durable_is_no_longer_on_the_way());
}

Task<void> only_the_newest_place_is_acknowledged_and_once() {
  auto account = std::make_shared<DurableAccount>(*Reactor::current());
  account->handed(30);
  co_await note_elsewhere(account, [](const Account& to) {
    DurableAccount::note_durable(to, 10, Acknowledgement{"binlog.000001", 100});
    DurableAccount::note_durable(to, 10, Acknowledgement{"binlog.000002", 50});
    DurableAccount::note_durable(to, 10, {});
  });
  const std::optional<Acknowledgement> newest = account->take_newest();
  EXPECT_TRUE(newest);
  if (!newest) co_return;
  EXPECT_EQ(newest->file, "binlog.000002");
  EXPECT_EQ(newest->position, 50u);
  EXPECT_FALSE(account->take_newest());
}

TEST(DurableAccount, OnlyTheNewestPlaceIsAcknowledgedAndOnce) {
  run_blocking(only_the_newest_place_is_acknowledged_and_once());
}

Task<void> what_becomes_durable_later_is_told_again() {
  auto account = std::make_shared<DurableAccount>(*Reactor::current());
  const Deadline never_reached = Clock::now() + 60s;
  for (int round = 0; round < 3; ++round) {
    account->handed(10);
    co_await note_elsewhere(account, [](const Account& to) { DurableAccount::note_durable(to, 10, {}); });
  }
  EXPECT_EQ(account->bytes_on_the_way(), 0u);
  EXPECT_LT(Clock::now(), never_reached);
}

TEST(DurableAccount, WhatBecomesDurableLaterIsToldAgain) {
  run_blocking(what_becomes_durable_later_is_told_again());
}

}  // namespace
}  // namespace commitd::replication

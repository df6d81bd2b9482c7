#include "replication/epoch_rules.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace commitd::replication {
namespace {

const Uuid kA = *Uuid::parse("aaaaaaaa-0000-0000-0000-000000000000");
const Uuid kB = *Uuid::parse("bbbbbbbb-0000-0000-0000-000000000000");

RoleState promised(uint64_t epoch, Grant grant) {
  RoleState state;
  state.epoch = epoch;
  state.grant = grant;
  if (grant == Grant::Master) state.quorum = {2, 1, {kA, kB}};
  if (grant == Grant::Replica) state.source.source_uuid = kA;
  return state;
}

sql::FollowTarget target(const Uuid& uuid) {
  sql::FollowTarget target;
  target.source_uuid = uuid;
  return target;
}

enum Expected { kGranted, kSame, kRefused };

Expected outcome(const Result<Verdict>& verdict) {
  if (!verdict.ok()) {
    EXPECT_EQ(verdict.error().code, er::kStaleEpoch) << verdict.error().message;
    return kRefused;
  }
  return *verdict == Verdict::Grant ? kGranted : kSame;
}

// What a server that has promised epoch 5 as `had` answers to each statement with a lower, the same and a
// higher epoch.
struct Case {
  Grant had;
  Expected fence[3], promote[3], follow[3];
};

TEST(EpochRules, TableOfRolesAndEpochs) {
  const Case cases[] = {
      {Grant::Fenced,
       {kRefused, kSame, kGranted},
       {kRefused, kGranted, kGranted},
       {kRefused, kGranted, kGranted}},
      {Grant::Replica,
       {kRefused, kRefused, kGranted},
       {kRefused, kRefused, kGranted},
       {kRefused, kSame, kGranted}},
      {Grant::Master,
       {kRefused, kRefused, kGranted},
       {kRefused, kSame, kGranted},
       {kRefused, kRefused, kGranted}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(grant_name(one.had));
    const RoleState durable = promised(5, one.had);
    for (int i = 0; i < 3; ++i) {
      const uint64_t epoch = 4 + i;
      SCOPED_TRACE(epoch);
      EXPECT_EQ(outcome(judge_fence(durable, epoch)), one.fence[i]);
      EXPECT_EQ(outcome(judge_promote(durable, epoch, {0, 1, {kA, kB}})), one.promote[i]);
      EXPECT_EQ(outcome(judge_follow(durable, epoch, target(kA))), one.follow[i]);
    }
  }
}

TEST(EpochRules, AnUnpromisedServerTakesAnyEpochButZero) {
  const RoleState fresh;
  EXPECT_EQ(outcome(judge_fence(fresh, 1)), kGranted);
  EXPECT_EQ(outcome(judge_promote(fresh, 1, {})), kGranted);
  EXPECT_EQ(outcome(judge_follow(fresh, 1, target(kA))), kGranted);
  EXPECT_EQ(outcome(judge_fence(fresh, 0)), kRefused);
}

TEST(EpochRules, AnEpochHasOneMaster) {
  EXPECT_EQ(outcome(judge_follow(promised(5, Grant::Replica), 5, target(kB))), kRefused);
}

TEST(EpochRules, PromotingAgainCannotChangeTheQuorum) {
  const RoleState master = promised(5, Grant::Master);
  EXPECT_EQ(outcome(judge_promote(master, 5, {0, 1, {kA, kB}})), kSame);
  EXPECT_EQ(outcome(judge_promote(master, 5, {0, 2, {kA, kB}})), kRefused);
  EXPECT_EQ(outcome(judge_promote(master, 5, {0, 1, {kA}})), kRefused);
}

TEST(EpochRules, QuorumVersionsOnlyGrow) {
  const RoleState master = promised(5, Grant::Master);  // version 2
  EXPECT_EQ(outcome(judge_quorum(master, 5, {1, 1, {kA}})), kRefused);
  EXPECT_EQ(outcome(judge_quorum(master, 5, {2, 1, {kA}})), kRefused);
  EXPECT_EQ(outcome(judge_quorum(master, 5, {2, 1, {kA, kB}})), kSame);
  EXPECT_EQ(outcome(judge_quorum(master, 5, {3, 1, {kA}})), kGranted);
  EXPECT_EQ(outcome(judge_quorum(master, 4, {3, 1, {kA}})), kRefused);
  EXPECT_EQ(outcome(judge_quorum(master, 6, {3, 1, {kA}})), kRefused);
  EXPECT_EQ(outcome(judge_quorum(promised(5, Grant::Replica), 5, {3, 1, {kA}})), kRefused);
}

TEST(EpochRules, AWaitCountThatNobodyCanReachIsAnError) {
  auto verdict = judge_promote(RoleState{}, 1, {0, 3, {kA, kB}});
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().code, er::kWrongArguments);
}

TEST(EpochRules, WhatWouldBreakAPromiseIsKnownWhoeverAsks) {
  const RoleState master = promised(5, Grant::Master);  // version 2
  EXPECT_TRUE(keeps_promises(RoleState{}, master));
  EXPECT_TRUE(keeps_promises(master, master));
  EXPECT_TRUE(keeps_promises(master, promised(6, Grant::Fenced)));
  EXPECT_TRUE(keeps_promises(promised(5, Grant::Fenced), master));
  EXPECT_FALSE(keeps_promises(master, promised(4, Grant::Master)));
  EXPECT_FALSE(keeps_promises(master, promised(5, Grant::Fenced)));
  EXPECT_FALSE(keeps_promises(master, promised(5, Grant::Replica)));
  EXPECT_FALSE(keeps_promises(promised(5, Grant::Replica), master));

  RoleState next = master;
  next.quorum.wait_count = 0;
  EXPECT_FALSE(keeps_promises(master, next));
  ++next.quorum.version;
  EXPECT_TRUE(keeps_promises(master, next));
  EXPECT_FALSE(keeps_promises(next, master));

  RoleState floor = master;
  floor.gno_floor = master.gno_floor + 1;
  EXPECT_TRUE(keeps_promises(master, floor));
  EXPECT_FALSE(keeps_promises(floor, master));
}

}  // namespace
}  // namespace commitd::replication

#include "sql/named_locks.h"

#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class NamedLocksInSql : public testing::SqlTest {};

TEST(NamedLocks, AreGivenBackAsOftenAsTheyWereTaken) {
  NamedLocks locks;
  EXPECT_TRUE(locks.try_take("a", 1));
  EXPECT_TRUE(locks.try_take("A", 1));
  EXPECT_FALSE(locks.try_take("a", 2));
  EXPECT_EQ(locks.give_back("a", 2), false);
  EXPECT_EQ(locks.give_back("a", 1), true);
  EXPECT_EQ(locks.holder("a"), 1u);
  EXPECT_EQ(locks.give_back("a", 1), true);
  EXPECT_EQ(locks.give_back("a", 1), std::nullopt);
  EXPECT_EQ(locks.holder("a"), std::nullopt);
}

TEST(NamedLocks, ASessionGivesBackAllOfItsOwn) {
  NamedLocks locks;
  EXPECT_TRUE(locks.try_take("a", 1) && locks.try_take("a", 1) && locks.try_take("b", 1) &&
              locks.try_take("c", 2));
  EXPECT_EQ(locks.give_all_back(1), 3u);
  EXPECT_EQ(locks.holder("c"), 2u);
  EXPECT_TRUE(locks.try_take("a", 2));
}

TEST_F(NamedLocksInSql, TwoSessions) {
  const auto other = connect();
  EXPECT_EQ(run("SELECT GET_LOCK('x', 0), IS_FREE_LOCK('x'), IS_FREE_LOCK('y'), IS_USED_LOCK('x') = "
                "CONNECTION_ID()"),
            "1|0|1|1");
  EXPECT_EQ(
      run(*other, "SELECT GET_LOCK('X', 0.01), IS_FREE_LOCK('x'), RELEASE_LOCK('x'), RELEASE_LOCK('y')"),
      "0|0|0|NULL");
  EXPECT_EQ(run("SELECT RELEASE_LOCK('x'), RELEASE_LOCK('x')"), "1|NULL");
  EXPECT_EQ(run(*other, "SELECT GET_LOCK('x', -1), GET_LOCK('z', 0)"), "1|1");
  EXPECT_EQ(run(*other, "SELECT RELEASE_ALL_LOCKS()"), "2");
  EXPECT_EQ(run("SELECT GET_LOCK(NULL, 0)"), "ERROR 3057: Incorrect user-level lock name 'NULL'.");
}

TEST_F(NamedLocksInSql, ASessionThatEndsHoldsNone) {
  auto other = connect();
  EXPECT_EQ(run(*other, "SELECT GET_LOCK('x', 0)"), "1");
  EXPECT_EQ(run("SELECT GET_LOCK('x', 0)"), "0");
  other.reset();
  EXPECT_EQ(run("SELECT GET_LOCK('x', 0)"), "1");
}

}  // namespace
}  // namespace commitd::sql

#include "base/check.h"

#include <gtest/gtest.h>

namespace commitd {
namespace {

TEST(CheckDeathTest, SaysWhatDoesNotHoldAndWhereAndAborts) {
  const int applied = 7, acknowledged = 5;
  COMMITD_CHECK(acknowledged <= applied, "not looked at");
  EXPECT_DEATH(COMMITD_CHECK(applied <= acknowledged, "applied {}, acknowledged {}", applied, acknowledged),
               "check_test.cc:.*applied <= acknowledged: applied 7, acknowledged 5");
}

}  // namespace
}  // namespace commitd

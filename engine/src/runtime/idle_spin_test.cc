#include "runtime/idle_spin.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace commitd {
namespace {

using namespace std::chrono_literals;

class IdleSpinTest : public testing::Test {
 protected:
  ~IdleSpinTest() override { IdleSpin::set_limit(0us); }

  // One wait for something that is there at once for who looks.
  bool looks(IdleSpin& spin) {
    bool asked = false;
    const bool found = spin.look([&] { return asked = true; });
    EXPECT_EQ(found, asked);
    spin.over();
    return asked;
  }
  void wait_shortly(IdleSpin& spin, int times) {
    for (int i = 0; i < times; ++i) looks(spin);
  }
  void wait_longer_than(std::chrono::microseconds time, IdleSpin& spin) {
    EXPECT_FALSE(spin.look([] { return false; }));
    std::this_thread::sleep_for(time);
    spin.over();
  }
};

TEST_F(IdleSpinTest, NobodyLooksWithoutALimit) {
  IdleSpin spin;
  wait_shortly(spin, 10);
  EXPECT_FALSE(looks(spin));
}

TEST_F(IdleSpinTest, ShortWaitsMakeItLook) {
  IdleSpin::set_limit(1h);
  IdleSpin spin;
  EXPECT_FALSE(looks(spin));
  wait_shortly(spin, 10);
  EXPECT_TRUE(looks(spin));
}

TEST_F(IdleSpinTest, OneLongWaitMakesItSleepAgain) {
  IdleSpin::set_limit(1h);
  IdleSpin spin;
  wait_shortly(spin, 10);
  IdleSpin::set_limit(1us);
  wait_longer_than(1us, spin);
  IdleSpin::set_limit(1h);
  EXPECT_FALSE(looks(spin));
}

TEST_F(IdleSpinTest, NobodyLooksWhileMoreThanOneSessionIsAtWork) {
  IdleSpin::set_limit(1h);
  IdleSpin spin;
  wait_shortly(spin, 10);
  IdleSpin::AtWork one;
  EXPECT_TRUE(looks(spin));
  {
    IdleSpin::AtWork another;
    EXPECT_FALSE(looks(spin));
  }
  EXPECT_TRUE(looks(spin));
}

TEST_F(IdleSpinTest, ASecondSessionEndsTheLook) {
  IdleSpin::set_limit(1h);
  IdleSpin spin;
  wait_shortly(spin, 10);
  IdleSpin::AtWork one;
  std::optional<IdleSpin::AtWork> another;
  EXPECT_FALSE(spin.look([&] {
    another.emplace();
    return false;
  }));
}

}  // namespace
}  // namespace commitd

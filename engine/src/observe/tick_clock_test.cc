#include "observe/tick_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace commitd::observe {
namespace {

using SystemClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Of two spans of which one lies inside the other, neither clock may find the inner one longer.
TEST(TickClock, AgreesWithTheSystemsClock) {
  const auto outer = SystemClock::now();
  const auto began = TickClock::now();
  const auto inner = SystemClock::now();
  std::this_thread::sleep_for(50ms);
  const auto inside = SystemClock::now() - inner;
  const auto ticked = TickClock::between(began, TickClock::now());
  const auto outside = SystemClock::now() - outer;
  EXPECT_GE(ticked, inside * 0.999);
  EXPECT_LE(ticked, outside * 1.001);
}

TEST(TickClock, NoSpanIsNegative) {
  const auto now = TickClock::now();
  EXPECT_EQ(TickClock::between(now + 100, now), 0ns);
}

TEST(TickClock, LongSpansDoNotOverflow) {
  const auto second = TickClock::now();
  std::this_thread::sleep_for(1ms);
  const auto millisecond = TickClock::now() - second;
  EXPECT_GT(TickClock::between(0, millisecond * 1000 * 3600 * 24), 20h);
}

}  // namespace
}  // namespace commitd::observe

#include "server/reactor_watch.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace commitd::server {
namespace {

class ReactorWatchTest : public testing::Test {
 protected:
  ReactorWatchTest() {
    watch_.add("one", one_);
    watch_.add("two", two_);
  }
  ~ReactorWatchTest() override {
    one_.stop();
    two_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  // Until whatever was posted before has run.
  static void pass(Reactor& reactor) {
    std::promise<void> passed;
    reactor.post([&] { passed.set_value(); });
    passed.get_future().wait();
  }

  Reactor one_{"one"}, two_{"two"};
  ReactorWatch watch_;
  std::thread threads_[2] = {std::thread([this] { one_.run(); }), std::thread([this] { two_.run(); })};
};

TEST_F(ReactorWatchTest, WhoTurnsIsNotBlamed) {
  for (int i = 0; i < 3 * ReactorWatch::kPatience; ++i) {
    watch_.look();
    pass(one_);
    pass(two_);
    EXPECT_EQ(watch_.standing_still(), std::nullopt);
  }
}

TEST_F(ReactorWatchTest, WhoStandsStillIsNamedUntilItTurnsAgain) {
  std::promise<void> release;
  two_.post([held = release.get_future().share()] { held.wait(); });
  for (int i = 0; i < ReactorWatch::kPatience; ++i) {
    watch_.look();
    pass(one_);
    EXPECT_EQ(watch_.standing_still(), std::nullopt) << "after " << i << " looks";
  }
  watch_.look();
  EXPECT_EQ(watch_.standing_still(), "two");
  release.set_value();
  pass(two_);
  watch_.look();
  EXPECT_EQ(watch_.standing_still(), std::nullopt);
}

}  // namespace
}  // namespace commitd::server

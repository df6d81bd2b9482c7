// Sessions on threads of their own: the same answers, ended by the same means.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error_codes.h"
#include "wire/protocol.h"
#include "wire/session_threads.h"
#include "wire/testing/raw_connection.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
namespace {

using namespace std::chrono_literals;

size_t threads_of_this_process() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

std::string query(RawConnection& connection, std::string_view sql) {
  return connection.command(static_cast<uint8_t>(Command::Query), sql);
}

TEST(SessionThreads, EachConnectionHasOneAndTakesItAlong) {
  TestServer server(100, true);
  const size_t before = threads_of_this_process();
  {
    std::vector<RawConnection> connections;
    for (int i = 0; i < 5; ++i) {
      connections.emplace_back(server.port());
      ASSERT_EQ(connections.back().log_in("echo", "echo")[0], kOkHeader);
      EXPECT_EQ(query(connections.back(), "ok")[0], kOkHeader);
    }
    EXPECT_EQ(threads_of_this_process(), before + 5);
  }
  while (server.server().session_count() > 0) std::this_thread::yield();
  RawConnection last(server.port());
  ASSERT_EQ(last.log_in("echo", "echo")[0], kOkHeader);
  EXPECT_LE(threads_of_this_process(), before + 2);
}

TEST(SessionThreads, AStatementThatRunsIsEndedAndAnsweredAtShutdown) {
  TestServer server(100, true);
  RawConnection busy(server.port());
  ASSERT_EQ(busy.log_in("echo", "echo")[0], kOkHeader);
  busy.send_packet(0,
                   "\x03"
                   "wait");
  while (waiting_statements.load() == 0) std::this_thread::yield();
  run_blocking(server.server().close_sessions(ProtocolServer::Which::All, Clock::now() + 10s));
  EXPECT_EQ(error_code(busy.receive_packet().value_or("")), er::kQueryInterrupted);
}

Task<void> wait_for_ever(std::atomic<int>& destroyed) {
  struct Guard {
    std::atomic<int>& count;
    ~Guard() { ++count; }
  } guard{destroyed};
  co_await sleep_until(kNoDeadline);
}

TEST(SessionThreads, StopEndsWhatStillWaitsAndNothingIsStartedAfterIt) {
  std::atomic<int> destroyed{0};
  SessionThreads threads;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(threads.start([&] { return wait_for_ever(destroyed); }).ok());
  threads.stop();
  EXPECT_EQ(threads.count(), 0u);
  EXPECT_LE(destroyed.load(), 10);  // those that had begun
  EXPECT_FALSE(threads.start([&] { return wait_for_ever(destroyed); }).ok());
}

}  // namespace
}  // namespace commitd::wire::testing

#include "runtime/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "runtime/parker.h"

namespace commitd {
namespace {

using namespace std::chrono_literals;

Task<void> echo_one_connection(int listening_fd) {
  Acceptor acceptor(listening_fd);
  Socket socket(co_await acceptor.accept());
  char buffer[4096];
  for (;;) {
    auto got = co_await socket.read(buffer);
    if (!got.ok() || *got == 0) co_return;
    Status sent = co_await socket.write(std::string_view(buffer, *got));
    if (!sent.ok()) co_return;
  }
}

Task<void> write_all(Socket& socket, std::string_view bytes, Parker& done) {
  EXPECT_TRUE((co_await socket.write(bytes)).ok());
  done.wake();
}

// Far more than the socket buffers hold: both directions meet back pressure.
Task<void> large_echo(Result<UniqueFd>& listener) {
  Reactor::current()->spawn(echo_one_connection(listener->get()));
  auto socket = co_await Socket::connect("127.0.0.1", local_address(listener->get()).port());
  EXPECT_TRUE(socket.ok());
  std::string sent(20 << 20, 'x');
  for (size_t i = 0; i < sent.size(); i += 997) sent[i] = static_cast<char>('a' + i % 26);
  Parker written;
  Reactor::current()->spawn(write_all(**socket, sent, written));
  std::string back;
  std::string buffer(1 << 16, '\0');
  while (back.size() < sent.size()) {
    auto got = co_await (*socket)->read(buffer);
    if (!got.ok() || *got == 0) break;
    back.append(buffer, 0, *got);
  }
  co_await written.park();
  EXPECT_TRUE(back == sent);
}

TEST(Socket, CarriesMoreThanItsBuffersBothWaysAtOnce) {
  auto listener = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  run_blocking(large_echo(listener));
}

std::array<UniqueFd, 2> connected_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  EXPECT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);  // ours; the peer is plain blocking code
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

double reactor_wakeups() {
  for (const auto& [name, value] : observe::snapshot()) {
    if (name == "commitd_reactor_wakeups_total") return value;
  }
  return 0;
}

constexpr int kPackets = 200;

Task<void> send_packets_and_wait_for_one(int fd, std::atomic<bool>& sent) {
  Socket socket{UniqueFd(fd)};
  for (int i = 0; i < kPackets; ++i) EXPECT_TRUE((co_await socket.write(std::string_view("x"))).ok());
  sent.store(true);
  char byte = 0;
  auto got = co_await socket.read(std::span(&byte, 1));
  EXPECT_TRUE(got.ok());
}

// On a unix socket each packet that the peer takes makes room; who waits for input has no use for that.
TEST(Socket, APeerThatTakesItsPacketsDoesNotWakeTheReactor) {
  auto [ours, peer] = connected_pair();
  std::atomic<bool> sent{false};
  double wakeups = 0;
  std::thread taker([&, fd = peer.get()] {
    while (!sent.load()) std::this_thread::yield();
    const double before = reactor_wakeups();
    char byte = 0;
    for (int i = 0; i < kPackets; ++i) {
      EXPECT_EQ(recv(fd, &byte, 1, 0), 1);
      std::this_thread::sleep_for(100us);
    }
    wakeups = reactor_wakeups() - before;
    EXPECT_EQ(send(fd, &byte, 1, 0), 1);
  });
  run_blocking(send_packets_and_wait_for_one(dup(ours.get()), sent));
  taker.join();
  EXPECT_LT(wakeups, kPackets / 10);
}

Task<void> send_much(int fd, std::string_view bytes) {
  Socket socket{UniqueFd(fd)};
  EXPECT_TRUE((co_await socket.write(bytes)).ok());
}

TEST(Socket, WritesOnWhenAPeerOnAUnixSocketHasMadeRoom) {
  auto [ours, peer] = connected_pair();
  const std::string bytes(8 << 20, 'z');
  size_t taken = 0;
  std::thread taker([&taken, fd = peer.get()] {
    std::string buffer(100'000, '\0');
    for (ssize_t got; (got = recv(fd, buffer.data(), buffer.size(), 0)) > 0;)
      taken += static_cast<size_t>(got);
  });
  run_blocking(send_much(dup(ours.get()), bytes));
  ours = UniqueFd();
  taker.join();
  EXPECT_EQ(taken, bytes.size());
}

Task<Error> read_from_silent_peer(int port) {
  auto socket = co_await Socket::connect("localhost", static_cast<uint16_t>(port), Clock::now() + 10s);
  if (!socket.ok()) co_return std::move(socket).error();
  char buffer[10];
  auto got = co_await (*socket)->read(buffer, Clock::now() + 20ms);
  co_return got.error();
}

TEST(Socket, ReadGivesUpAtItsDeadline) {
  auto listener = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(run_blocking(read_from_silent_peer(local_address(listener->get()).port())).code,
            er::kNetReadInterrupted);
}

Task<void> shut_down_soon(Socket& socket) {
  co_await sleep_until(Clock::now() + 10ms);
  socket.shutdown();
}

Task<size_t> read_until_shut_down(int port) {
  auto socket = co_await Socket::connect("127.0.0.1", static_cast<uint16_t>(port));
  Reactor::current()->spawn(shut_down_soon(**socket));
  char buffer[10];
  auto got = co_await (*socket)->read(buffer);
  co_return got.ok() ? *got : 0;
}

TEST(Socket, ShutdownEndsAWaitingRead) {
  auto listener = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ(run_blocking(read_until_shut_down(local_address(listener->get()).port())), 0u);
}

struct HurriedWrite {
  std::array<UniqueFd, 2> pair = connected_pair();
  std::string bytes;
  bool hurried_before = false;
};

Task<void> hurry_soon(Socket& socket) {
  co_await sleep_until(Clock::now() + 10ms);
  socket.hurry();
}

Task<Status> write_in_a_hurry(HurriedWrite& write) {
  Socket socket(std::move(write.pair[0]));
  if (write.hurried_before) {
    socket.hurry();
  } else {
    Reactor::current()->spawn(hurry_soon(socket));
  }
  co_return co_await socket.write(write.bytes);
}

TEST(Socket, WhatThePeerHasRoomForArrivesInAHurryToo) {
  HurriedWrite write{.bytes = "the answer", .hurried_before = true};
  EXPECT_TRUE(run_blocking(write_in_a_hurry(write)).ok());
  char got[100];
  EXPECT_EQ(recv(write.pair[1].get(), got, sizeof(got), 0), 10);
}

TEST(Socket, AHurryEndsAWriteThatWaits) {
  HurriedWrite write{.bytes = std::string(8 << 20, 'z'), .hurried_before = false};
  EXPECT_EQ(run_blocking(write_in_a_hurry(write)).error().code, er::kNetReadError);
}

Task<Status> write_twice_in_a_hurry(HurriedWrite& write) {
  Socket socket(std::move(write.pair[0]), Socket::Family::Unix);
  socket.hurry();
  EXPECT_FALSE((co_await socket.write(write.bytes)).ok());
  co_return co_await socket.write("what went wrong");
}

// It begins to wait without having tried: nothing has been taken since.
TEST(Socket, ASecondWriteInAHurryGivesUpSoonToo) {
  HurriedWrite write{.bytes = std::string(8 << 20, 'z'), .hurried_before = true};
  EXPECT_EQ(run_blocking(write_twice_in_a_hurry(write)).error().code, er::kNetWriteInterrupted);
}

TEST(Socket, AWriteThatMustWaitInAHurryGivesUpSoon) {
  HurriedWrite write{.bytes = std::string(8 << 20, 'z'), .hurried_before = true};
  EXPECT_EQ(run_blocking(write_in_a_hurry(write)).error().code, er::kNetWriteInterrupted);
}

Task<Status> connect_to(uint16_t port) {
  auto socket = co_await Socket::connect("127.0.0.1", port);
  if (!socket.ok()) co_return std::move(socket).error();
  co_return Status();
}

TEST(Socket, ConnectingToAClosedPortIsError2003) {
  auto listener = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  uint16_t port = local_address(listener->get()).port();
  listener->reset();
  Status status = run_blocking(connect_to(port));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, er::kClientConnHost);
}

Task<bool> write_then_half_close_echoes(int port) {
  auto socket = co_await Socket::connect("127.0.0.1", static_cast<uint16_t>(port));
  Status sent = co_await (*socket)->write("last words");
  ::shutdown((*socket)->fd(), SHUT_WR);
  std::string back;
  char buffer[100];
  for (;;) {
    auto got = co_await (*socket)->read(buffer);
    if (!got.ok() || *got == 0) break;
    back.append(buffer, *got);
  }
  co_return sent.ok() && back == "last words";
}

Task<bool> half_close(int listening_fd) {
  Reactor::current()->spawn(echo_one_connection(listening_fd));
  co_return co_await write_then_half_close_echoes(local_address(listening_fd).port());
}

TEST(Socket, APeerThatOnlyStoppedSendingIsStillAnswered) {
  auto listener = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(run_blocking(half_close(listener->get())));
}

TEST(Listen, APortInUseIsRefusedWithItsName) {
  auto first = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(first.ok());
  uint16_t port = local_address(first->get()).port();
  auto second = listen_tcp("127.0.0.1", port);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find(std::to_string(port)), std::string::npos);
}

TEST(Listen, ASocketFileLeftBehindIsReplacedAndALiveOneIsNot) {
  std::string path = testing::TempDir() + "/listen_test.sock";
  ::unlink(path.c_str());
  {
    auto crashed = listen_unix(path);
    ASSERT_TRUE(crashed.ok());
  }
  auto live = listen_unix(path);
  ASSERT_TRUE(live.ok());
  EXPECT_FALSE(listen_unix(path).ok());
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace commitd

// Clients that break the protocol harm themselves only.
#include <gtest/gtest.h>

#include <random>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/protocol.h"
#include "wire/testing/raw_connection.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
namespace {

std::string random_bytes(std::mt19937& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void expect_healthy(TestServer& server) {
  RawConnection connection(server.port());
  EXPECT_EQ(connection.log_in("echo", "echo").substr(0, 1), std::string(1, '\0'));
  EXPECT_EQ(connection.command(static_cast<uint8_t>(Command::Ping)).substr(0, 1), std::string(1, '\0'));
}

TEST(Robustness, GarbageInsteadOfALoginEndsThatConnection) {
  TestServer server;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    RawConnection connection(server.port());
    connection.receive_packet();
    if (i % 2 == 0) {
      connection.send_bytes(random_bytes(random, random() % 200));
    } else {
      connection.send_packet(1, random_bytes(random, random() % 200));
    }
    connection.finish_sending();
    while (connection.receive_packet()) {
    }
  }
  expect_healthy(server);
}

// Packets that are nearly right get further: a login cut off at each byte, and with each byte changed.
TEST(Robustness, ALoginCutOffOrChangedAnywhereIsAnsweredOrEnded) {
  TestServer server;
  HandshakeResponse response;
  response.capabilities = server_capabilities();
  response.user = "nobody";
  response.plugin = "caching_sha2_password";
  std::string whole = encode(response);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(~changed[i]);
    for (const std::string& packet : {whole.substr(0, i), changed}) {
      RawConnection connection(server.port());
      connection.receive_packet();
      connection.send_packet(1, packet);
      connection.finish_sending();
      while (connection.receive_packet()) {
      }
    }
  }
  expect_healthy(server);
}

TEST(Robustness, GarbageBehindEachCommandByteIsAnswered) {
  TestServer server;
  std::mt19937 random(2);
  for (int round = 0; round < 4; ++round) {
    for (int command = 0; command < 256; ++command) {
      RawConnection connection(server.port());
      if (connection.log_in("replica", "replica").empty())
        FAIL() << "login failed before command " << command;
      std::string payload(1, static_cast<char>(command));
      payload += random_bytes(random, random() % 40);
      connection.send_packet(0, payload);
      connection.finish_sending();
      while (connection.receive_packet()) {
      }
    }
  }
  expect_healthy(server);
}

TEST(Robustness, ExecutionsWithGarbageParametersAreErrorsNotCrashes) {
  TestServer server;
  std::mt19937 random(3);
  RawConnection connection(server.port());
  ASSERT_FALSE(connection.log_in("echo", "echo").empty());
  std::string prepared = connection.command(static_cast<uint8_t>(Command::StmtPrepare), "? ? ?");
  for (int i = 0; i < 4; ++i) connection.receive_packet();
  for (int i = 0; i < 2000; ++i) {
    std::string arguments("\1\0\0\0\0\1\0\0\0\0\1", 11);
    for (int parameter = 0; parameter < 3; ++parameter) {
      arguments.push_back(static_cast<char>(random()));
      arguments.push_back(static_cast<char>(random() & 0x80));
    }
    arguments += random_bytes(random, random() % 60);
    std::string answer = connection.command(static_cast<uint8_t>(Command::StmtExecute), arguments);
    ASSERT_FALSE(answer.empty());
    if (error_code(answer) != 0) continue;
    for (int packet = 0; packet < 3 + 1 + 1 + 1; ++packet) ASSERT_TRUE(connection.receive_packet());
  }
  expect_healthy(server);
}

TEST(Robustness, APacketBeyondTheLimitIsRefusedBeforeItIsRead) {
  TestServer server;
  RawConnection connection(server.port());
  ASSERT_FALSE(connection.log_in("echo", "echo").empty());
  ASSERT_FALSE(connection.command(static_cast<uint8_t>(Command::Query), "max_packet 1048576").empty());
  std::string header;
  ByteWriter out(header);
  out.le24(2 << 20);
  out.u8(0);
  connection.send_bytes(header);
  EXPECT_EQ(error_code(connection.receive_packet().value_or("")), er::kNetPacketTooLarge);
  EXPECT_FALSE(connection.receive_packet());
}

TEST(Robustness, AWrongSequenceNumberIsRefused) {
  TestServer server;
  RawConnection connection(server.port());
  ASSERT_FALSE(connection.log_in("echo", "echo").empty());
  connection.send_packet(5, "\x0e");
  EXPECT_EQ(error_code(connection.receive_packet().value_or("")), er::kNetPacketsOutOfOrder);
}

TEST(Robustness, AClientThatNeverReadsDoesNotStopTheOthersNorTheShutdown) {
  TestServer server;
  RawConnection deaf(server.port());
  ASSERT_FALSE(deaf.log_in("echo", "echo").empty());
  deaf.send_packet(0,
                   "\x03"
                   "rows 10000000");
  expect_healthy(server);
  run_blocking(
      server.server().close_sessions(ProtocolServer::Which::All, Clock::now() + std::chrono::seconds(30)));
  EXPECT_EQ(server.server().session_count(), 0u);
}

}  // namespace
}  // namespace commitd::wire::testing

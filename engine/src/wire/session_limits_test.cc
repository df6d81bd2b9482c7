// What a session's variables and the server's limits do to a connection; files that clients send; what
// clients are told about changes of their session.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/protocol.h"
#include "wire/testing/raw_connection.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
namespace {

class SessionLimits : public ::testing::Test {
 protected:
  RawConnection logged_in(uint32_t capabilities = 0) {
    RawConnection connection(server_.port());
    EXPECT_EQ(connection.log_in("echo", "echo", capabilities).substr(0, 1), std::string(1, '\0'));
    return connection;
  }
  static std::string query(RawConnection& connection, std::string_view sql) {
    return connection.command(static_cast<uint8_t>(Command::Query), sql);
  }
  static bool answers(RawConnection& connection) { return query(connection, "ok").starts_with('\0'); }

  TestServer server_;
};

TEST_F(SessionLimits, AnIdleClientIsToldWhyItIsDisconnectedAndOthersAreNot) {
  auto idle = logged_in(), other = logged_in();
  ASSERT_FALSE(query(idle, "wait_timeout 1").empty());
  EXPECT_EQ(error_code(idle.receive_packet().value_or("")), er::kClientInteractionTimeout);
  EXPECT_FALSE(idle.receive_packet());
  EXPECT_TRUE(answers(other));
}

TEST_F(SessionLimits, APacketThatStopsHalfWayEndsTheConnectionAfterNetReadTimeout) {
  auto connection = logged_in();
  ASSERT_FALSE(query(connection, "read_timeout 1").empty());
  connection.send_bytes(std::string("\x20\0\0\0\x03half", 9));
  EXPECT_EQ(error_code(connection.receive_packet().value_or("")), er::kNetReadInterrupted);
  EXPECT_FALSE(connection.receive_packet());
}

TEST_F(SessionLimits, ALoginThatNeverComesIsEndedAfterConnectTimeout) {
  server_.limits().connect_timeout = 1;
  RawConnection silent(server_.port());
  ASSERT_TRUE(silent.receive_packet());
  EXPECT_EQ(error_code(silent.receive_packet().value_or("")), er::kNetReadInterrupted);
  EXPECT_FALSE(silent.receive_packet());
}

TEST_F(SessionLimits, TheLimitOfAnAccountsConnectionsIsForThatAccountAlone) {
  server_.limits().max_user_connections = 2;
  auto first = logged_in();
  {
    auto second = logged_in();
    RawConnection third(server_.port()), other(server_.port());
    EXPECT_EQ(error_code(third.log_in("echo", "echo")), er::kTooManyUserConnections);
    EXPECT_EQ(other.log_in("replica", "replica")[0], kOkHeader);
  }
  while (server_.server().session_count() > 1) std::this_thread::yield();
  auto again = logged_in();
}

TEST_F(SessionLimits, WhoeverDoesNotAdministrateAServerThatIsOfflineIsToldAndSentAway) {
  auto before = logged_in(), unasked = logged_in();
  server_.go_offline(true);
  EXPECT_EQ(error_code(query(before, "ok")), er::kServerOfflineMode);
  EXPECT_FALSE(before.receive_packet());
  RawConnection refused(server_.port()), boss(server_.port()), beside(server_.admin_port());
  EXPECT_EQ(error_code(refused.log_in("echo", "echo")), er::kServerOfflineMode);
  EXPECT_EQ(boss.log_in("boss", "boss")[0], kOkHeader);
  EXPECT_TRUE(answers(boss));
  EXPECT_EQ(beside.log_in("echo", "echo")[0], kOkHeader);
  EXPECT_TRUE(answers(beside));
  server_.go_offline(false);
  EXPECT_TRUE(answers(unasked)) << "what was idle meanwhile";
  auto after = logged_in();
  EXPECT_TRUE(answers(after));
}

std::string empty_packet_end(RawConnection& connection, uint8_t sequence) {
  connection.send_packet(sequence, "");
  return connection.receive_packet().value_or("");
}

TEST_F(SessionLimits, WhatBeganBeforeTheServerWentOfflineIsNotAnswered) {
  auto connection = logged_in(capability::kLocalFiles);
  EXPECT_EQ(query(connection, "load /some/file"), "\xfb/some/file");
  server_.go_offline(true);
  EXPECT_EQ(empty_packet_end(connection, 2), "");
}

TEST_F(SessionLimits, AFileOfTheClientArrivesWhole) {
  auto connection = logged_in(capability::kLocalFiles);
  EXPECT_EQ(query(connection, "load /some/file"), "\xfb/some/file");
  connection.send_packet(2, "four");
  connection.send_packet(3, std::string(100'000, 'x'));
  std::string answer = empty_packet_end(connection, 4);
  ByteReader in(answer);
  EXPECT_EQ(in.u8(), kOkHeader);
  EXPECT_EQ(in.lenenc(), 100'004u);
  EXPECT_EQ(connection.last_sequence(), 5);
  EXPECT_TRUE(answers(connection));
}

TEST_F(SessionLimits, AnErrorWithinAFileIsAnsweredBehindItsEnd) {
  auto connection = logged_in(capability::kLocalFiles);
  query(connection, "load file");
  connection.send_packet(2, "stop");
  connection.send_packet(3, "more that nobody wants");
  EXPECT_EQ(error_code(empty_packet_end(connection, 4)), er::kDupEntry);
  EXPECT_TRUE(answers(connection));
}

TEST_F(SessionLimits, AFileThatNeverEndsEndsTheConnectionOnly) {
  auto connection = logged_in(capability::kLocalFiles), other = logged_in();
  query(connection, "read_timeout 1");
  query(connection, "load file");
  connection.send_packet(2, "beginning");
  EXPECT_EQ(error_code(connection.receive_packet().value_or("")), er::kNetReadInterrupted);
  EXPECT_FALSE(connection.receive_packet());
  EXPECT_TRUE(answers(other));
}

TEST_F(SessionLimits, NoFileIsAskedOfAClientThatGivesNone) {
  auto connection = logged_in();
  EXPECT_EQ(error_code(query(connection, "load file")), er::kClientLocalFilesDisabled);
  EXPECT_TRUE(answers(connection));
}

TEST_F(SessionLimits, ChangesOfTheSessionAreToldToClientsThatTrackThem) {
  auto connection = logged_in(capability::kSessionTrack);
  std::string answer = query(connection, "changed");
  ByteReader in(answer);
  EXPECT_EQ(in.u8(), kOkHeader);
  in.lenenc();
  in.lenenc();
  EXPECT_NE(in.le16() & server_status::kSessionStateChanged, 0);
  in.le16();
  EXPECT_EQ(in.lenenc_string(), "");
  ByteReader changes(in.lenenc_string());
  EXPECT_TRUE(in.ok() && in.at_end());
  EXPECT_EQ(changes.u8(), 0);  // a system variable
  ByteReader variable(changes.lenenc_string());
  EXPECT_EQ(variable.lenenc_string(), "autocommit");
  EXPECT_EQ(variable.lenenc_string(), "OFF");
  EXPECT_EQ(changes.u8(), 1);  // the schema
  EXPECT_EQ(changes.lenenc_string(), "\x04shop");
  EXPECT_EQ(changes.u8(), 3);  // GTIDs
  EXPECT_EQ(changes.lenenc_string(), std::string("\0\x06uuid:7", 8));
  EXPECT_TRUE(changes.ok() && changes.at_end());
  EXPECT_TRUE(answers(connection));
}

}  // namespace
}  // namespace commitd::wire::testing

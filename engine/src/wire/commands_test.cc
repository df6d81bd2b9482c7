#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/client.h"
#include "wire/protocol.h"
#include "wire/testing/raw_connection.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
namespace {

using namespace std::chrono_literals;

std::string le32(uint32_t value) {
  std::string bytes;
  ByteWriter(bytes).le32(value);
  return bytes;
}

class Commands : public ::testing::Test {
 protected:
  Commands() : connection_(server_.port()) {
    std::string answer = connection_.log_in("echo", "echo");
    EXPECT_EQ(answer.substr(0, 1), std::string(1, '\0'));
  }

  std::string send(Command command, std::string_view arguments = {}) {
    return connection_.command(static_cast<uint8_t>(command), arguments);
  }
  std::string receive() { return connection_.receive_packet().value_or("<end>"); }

  TestServer server_;
  RawConnection connection_;
};

TEST_F(Commands, AnOkPacketCarriesTheCountsAndTheText) {
  std::string answer = send(Command::Query, "ok");
  ByteReader in(answer);
  EXPECT_EQ(in.u8(), kOkHeader);
  EXPECT_EQ(in.lenenc(), 3u);
  EXPECT_EQ(in.lenenc(), 0u);
  EXPECT_EQ(in.le16(), 2);
  EXPECT_EQ(in.le16(), 0);
  EXPECT_EQ(in.lenenc_string(), "three rows");
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST_F(Commands, AnErrorCarriesItsStateAndTheSessionGoesOn) {
  std::string answer = send(Command::Query, "error");
  EXPECT_EQ(error_code(answer), er::kParse);
  EXPECT_EQ(answer.substr(3, 6), "#42000");
  EXPECT_EQ(send(Command::Ping)[0], kOkHeader);
}

TEST_F(Commands, AnUnknownOrEmptyCommandIsAnErrorAndTheSessionGoesOn) {
  EXPECT_EQ(error_code(connection_.command(0x55)), er::kUnknownCom);
  connection_.send_packet(0, "");
  EXPECT_EQ(error_code(receive()), er::kUnknownError);
  EXPECT_EQ(send(Command::Ping)[0], kOkHeader);
}

TEST_F(Commands, TextRowsEndWithAnEofPacketForClientsThatWantOne) {
  EXPECT_EQ(send(Command::Query, "rows 1"), "\x03");
  for (int column = 0; column < 3; ++column)
    EXPECT_EQ(receive().substr(0, 4),
              "\x03"
              "def");
  EXPECT_EQ(receive(), std::string("\xfe\0\0\2\0", 5));
  EXPECT_EQ(receive(),
            "\x01"
            "0"
            "\x05"
            "row 0"
            "\xfb");
  EXPECT_EQ(receive(), std::string("\xfe\0\0\2\0", 5));
}

TEST(DeprecateEof, RowsEndWithAnOkPacketAndNothingStandsBehindTheColumns) {
  TestServer server;
  RawConnection connection(server.port());
  ASSERT_EQ(connection.log_in("echo", "echo", capability::kDeprecateEof)[0], kOkHeader);
  EXPECT_EQ(connection.command(static_cast<uint8_t>(Command::Query), "rows 1"), "\x03");
  for (int column = 0; column < 3; ++column)
    EXPECT_EQ(connection.receive_packet().value_or("").substr(0, 4),
              "\x03"
              "def");
  EXPECT_EQ(connection.receive_packet(),
            "\x01"
            "0"
            "\x05"
            "row 0"
            "\xfb");
  EXPECT_EQ(connection.receive_packet(), std::string("\xfe\0\0\2\0\0\0", 7));
}

TEST_F(Commands, APacketOfExactlyTheLimitIsFollowedByAnEmptyOne) {
  constexpr size_t kHeaderOfValue = 4;  // length prefix 0xfd and three bytes
  send(Command::Query, "big " + std::to_string(kMaxPayload - kHeaderOfValue));
  receive();
  receive();
  EXPECT_EQ(receive().size(), kMaxPayload);
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(receive().substr(0, 1), "\xfe");
}

Task<Result<size_t>> size_of_big_answer(uint16_t port, size_t size) {
  ClientOptions options{"127.0.0.1", port, "echo", "echo", Clock::now() + 20s};
  auto client = co_await Client::connect(options);
  if (!client.ok()) co_return std::move(client).error();
  std::string sql = "big " + std::to_string(size);
  auto rows = co_await (*client)->query(sql, Clock::now() + 60s);
  if (!rows.ok()) co_return std::move(rows).error();
  co_return (*rows)[0][0]->size();
}

TEST_F(Commands, ARowBeyondTheLimitIsJoinedAgainByTheClient) {
  auto size = run_blocking(size_of_big_answer(server_.port(), 35'000'000));
  ASSERT_TRUE(size.ok()) << size.error().message;
  EXPECT_EQ(*size, 35'000'000u);
}

TEST_F(Commands, AStatementSentInTwoPacketsIsJoined) {
  std::string statement(kMaxPayload + 1000, 's');
  std::string payload = "\x03" + statement;
  connection_.send_packet(0, std::string_view(payload).substr(0, kMaxPayload));
  connection_.send_packet(1, std::string_view(payload).substr(kMaxPayload));
  EXPECT_EQ(receive(), "\x01");
  receive();
  receive();
  EXPECT_GE(receive().size(), statement.size() - 1000);
}

TEST_F(Commands, ManyRowsAreSentWhileTheyAreMade) {
  send(Command::Query, "rows 100000");
  for (int i = 0; i < 4; ++i) receive();
  for (int i = 0; i < 99'999; ++i) receive();
  EXPECT_EQ(receive(),
            "\x05"
            "99999"
            "\x09"
            "row 99999"
            "\xfb");
  EXPECT_EQ(receive().substr(0, 1), "\xfe");
}

TEST_F(Commands, CommandsSentWithoutWaitingAreAnsweredInOrder) {
  std::string all;
  for (char letter : {'a', 'b', 'c'}) {
    ByteWriter out(all);
    out.le24(2);
    out.u8(0);
    out.u8(static_cast<uint8_t>(Command::Query));
    out.u8(static_cast<uint8_t>(letter));
  }
  connection_.send_bytes(all);
  for (std::string letter : {"a", "b", "c"}) {
    for (int i = 0; i < 3; ++i) receive();
    EXPECT_EQ(receive(), "\x01" + letter);
    receive();
  }
}

TEST_F(Commands, FieldListGivesColumnsWithADefault) {
  std::string column = send(Command::FieldList, std::string("t1\0%", 4));
  EXPECT_NE(column.find("t1_id"), std::string::npos);
  EXPECT_EQ(column.back(), '\xfb');
  EXPECT_EQ(receive().substr(0, 1), "\xfe");
}

TEST_F(Commands, StatisticsIsALineOfText) {
  EXPECT_EQ(send(Command::Statistics).substr(0, 8), "Uptime: ");
}

TEST_F(Commands, APreparedStatementTakesItsParametersBack) {
  std::string prepared = send(Command::StmtPrepare, "echo ? ?");
  ByteReader in(prepared);
  EXPECT_EQ(in.u8(), kOkHeader);
  uint32_t id = in.le32();
  EXPECT_EQ(in.le16(), 0);  // columns
  EXPECT_EQ(in.le16(), 2);  // parameters
  for (int i = 0; i < 3; ++i) receive();

  std::string arguments = le32(id) + std::string("\0\1\0\0\0", 5);  // no cursor, one iteration
  arguments += std::string("\0\1", 2);                              // no NULL, types follow
  arguments += std::string("\x08\x00\xfd\x00", 4);                  // LONGLONG, VAR_STRING
  arguments += std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) +
               "\x04"
               "text";
  EXPECT_EQ(send(Command::StmtExecute, arguments), "\x02");
  for (int i = 0; i < 3; ++i) receive();
  EXPECT_EQ(receive(), std::string("\0\0", 2) + std::string(8, '\xff') +
                           "\x04"
                           "text");
  receive();

  // The second time without types, and with a NULL.
  arguments = le32(id) + std::string("\0\1\0\0\0", 5) + std::string("\1\0", 2) +
              "\x01"
              "x";
  EXPECT_EQ(send(Command::StmtExecute, arguments), "\x02");
  for (int i = 0; i < 3; ++i) receive();
  EXPECT_EQ(receive(), std::string("\0\x04", 2) +
                           "\x01"
                           "x");
  receive();

  connection_.send_packet(0, "\x19" + le32(id));  // COM_STMT_CLOSE has no answer
  EXPECT_EQ(error_code(send(Command::StmtExecute, arguments)), er::kUnknownStmtHandler);
}

TEST_F(Commands, LongDataIsCollectedUntilTheExecution) {
  send(Command::StmtPrepare, "echo ?");
  receive();
  receive();
  for (std::string piece : {"one ", "two"}) {
    connection_.send_packet(0, "\x18" + le32(1) + std::string("\0\0", 2) + piece);
  }
  std::string arguments = le32(1) + std::string("\0\1\0\0\0", 5) + std::string("\0\1\xfc\0", 4);
  EXPECT_EQ(send(Command::StmtExecute, arguments), "\x01");
  receive();
  receive();
  EXPECT_EQ(receive(), std::string("\0\0", 2) +
                           "\x07"
                           "one two");
}

TEST_F(Commands, DumpsAreForReplicasOnly) {
  EXPECT_EQ(error_code(send(Command::BinlogDump, le32(4) + std::string("\0\0", 2) + le32(7))),
            er::kSpecificAccessDenied);
}

TEST(Dump, EventsAndAcknowledgementsPassEachOtherAndTheEndIsAnError) {
  TestServer server;
  RawConnection connection(server.port());
  ASSERT_EQ(connection.log_in("replica", "replica")[0], kOkHeader);
  std::string replica = le32(7) +
                        "\x04"
                        "host"
                        "\x04"
                        "user"
                        "\x04"
                        "pass" +
                        std::string("\xea\x0c", 2) + le32(0) + le32(0);
  ASSERT_EQ(connection.command(static_cast<uint8_t>(Command::RegisterReplica), replica)[0], kOkHeader);

  std::string file = "binlog.000002";
  std::string dump = std::string("\2\0", 2) + le32(7) + le32(static_cast<uint32_t>(file.size())) + file +
                     std::string("\4\0\0\0\0\0\0\0", 8) + le32(0);
  EXPECT_EQ(connection.command(static_cast<uint8_t>(Command::BinlogDumpGtid), dump),
            std::string("\0event 0", 8));
  EXPECT_EQ(server.dumps().requested.file, "binlog.000002");
  EXPECT_EQ(server.dumps().requested.replica->server_id, 7u);
  EXPECT_EQ(server.dumps().requested.replica->port, 3306);
  for (int i = 1; i < 300; ++i) {  // acknowledgements are numbered 0 each; events go on counting
    connection.send_packet(0, "acknowledged");
    EXPECT_EQ(connection.receive_packet(), std::string("\0event ", 7) + std::to_string(i));
    EXPECT_EQ(connection.last_sequence(), static_cast<uint8_t>(i + 1));
  }
  connection.send_packet(0, "enough");
  EXPECT_EQ(error_code(connection.receive_packet().value_or("")), er::kSourceFatalReadingBinlog);
}

Task<void> close_clients(ProtocolServer& server, Deadline deadline) {
  co_await server.close_sessions(ProtocolServer::Which::Clients, deadline);
}

TEST(CloseSessions, EndsClientsWithAnAnswerToWhatRunsAndSparesOperatorAndReplicas) {
  TestServer server;
  RawConnection idle(server.port()), busy(server.port()), boss(server.port()), replica(server.port());
  idle.log_in("echo", "echo");
  busy.log_in("echo", "echo");
  boss.log_in("boss", "boss");
  replica.log_in("replica", "replica");
  replica.command(static_cast<uint8_t>(Command::BinlogDump), le32(4) + std::string("\0\0", 2) + le32(7));
  busy.send_packet(0,
                   "\x03"
                   "wait");

  run_blocking(close_clients(server.server(), Clock::now() + 10s));
  EXPECT_EQ(server.server().session_count(), 2u);
  EXPECT_EQ(error_code(busy.receive_packet().value_or("")), er::kQueryInterrupted);
  EXPECT_FALSE(idle.receive_packet());
  EXPECT_EQ(boss.command(static_cast<uint8_t>(Command::Ping)).substr(0, 1), std::string(1, '\0'));
  replica.send_packet(0, "go on");
  EXPECT_EQ(replica.receive_packet(), std::string("\0event 1", 8));
}

}  // namespace
}  // namespace commitd::wire::testing

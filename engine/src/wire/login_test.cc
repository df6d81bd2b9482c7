// Logins: our own client, the raw protocol, and the mariadb command line client when there is one.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/error_codes.h"
#include "wire/client.h"
#include "wire/protocol.h"
#include "wire/testing/raw_connection.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
namespace {

using namespace std::chrono_literals;

using Rows = std::vector<Client::TextRow>;

Task<Result<Rows>> query_as(uint16_t port, std::string user, std::string password, std::string sql) {
  ClientOptions options{"127.0.0.1", port, user, password, Clock::now() + 20s};
  auto client = co_await Client::connect(options);
  if (!client.ok()) co_return std::move(client).error();
  co_return co_await (*client)->query(sql, Clock::now() + 20s);
}

uint16_t login_error(uint16_t port, const std::string& user, const std::string& password) {
  auto rows = run_blocking(query_as(port, user, password, "hello"));
  return rows.ok() ? 0 : rows.error().code;
}

class Login : public ::testing::Test {
 protected:
  TestServer server_;
};

TEST_F(Login, EachMethodLetsTheRightPasswordInAndNoOther) {
  for (std::string user : {"echo", "native", "crypt"}) {
    EXPECT_EQ(login_error(server_.port(), user, "wrong"), er::kAccessDenied) << user;
    EXPECT_EQ(login_error(server_.port(), user, ""), er::kAccessDenied) << user;
    EXPECT_EQ(login_error(server_.port(), user, user), 0) << user;
  }
  EXPECT_EQ(login_error(server_.port(), "nobody", ""), 0);
  EXPECT_EQ(login_error(server_.port(), "nobody", "something"), er::kAccessDenied);
  EXPECT_EQ(login_error(server_.port(), "stranger", "stranger"), er::kAccessDenied);
  EXPECT_EQ(login_error(server_.port(), "locked", "locked"), er::kAccountLocked);
}

TEST_F(Login, AfterOneLoginTheLongWayTheShortWayIsEnough) {
  RawConnection before(server_.port());
  EXPECT_EQ(before.log_in("crypt", "crypt"), "\x01\x04");  // the server asks for the password itself
  ASSERT_EQ(login_error(server_.port(), "crypt", "crypt"), 0);
  RawConnection after(server_.port());
  std::string answer = after.log_in("crypt", "crypt");
  ASSERT_FALSE(answer.empty());
  EXPECT_EQ(answer[0], kOkHeader);
}

TEST_F(Login, AnUnknownDatabaseEndsTheLogin) {
  RawConnection connection(server_.port());
  auto greeting = connection.receive_packet();
  ASSERT_TRUE(greeting);
  HandshakeResponse response;
  response.capabilities = capability::kProtocol41 | capability::kSecureConnection | capability::kPluginAuth |
                          capability::kPluginAuthLenenc | capability::kConnectWithDb;
  response.user = "nobody";
  response.plugin = "caching_sha2_password";
  response.database = "missing";
  connection.send_packet(1, encode(response));
  EXPECT_EQ(error_code(connection.receive_packet().value_or("")), er::kBadDb);
  EXPECT_FALSE(connection.receive_packet());
}

TEST_F(Login, ChangeUserAsksAgainAndAWrongPasswordEndsTheConnection) {
  RawConnection connection(server_.port());
  ASSERT_EQ(connection.log_in("echo", "echo")[0], kOkHeader);
  std::string change("nobody\0\0\0\x2d\0", 11);
  std::string question = connection.command(static_cast<uint8_t>(Command::ChangeUser), change);
  ASSERT_EQ(static_cast<uint8_t>(question.at(0)), kAuthSwitch);
  connection.send_packet(static_cast<uint8_t>(connection.last_sequence() + 1), "");
  EXPECT_EQ(connection.receive_packet().value_or("?")[0], kOkHeader);

  change = std::string("echo\0\0\0\x2d\0", 9);
  question = connection.command(static_cast<uint8_t>(Command::ChangeUser), change);
  connection.send_packet(static_cast<uint8_t>(connection.last_sequence() + 1), "not an answer");
  EXPECT_EQ(error_code(connection.receive_packet().value_or("")), er::kAccessDenied);
  EXPECT_FALSE(connection.receive_packet());
}

TEST(MaxConnections, TheOperatorAndTheAdminPortGetInWhenAllPlacesAreTaken) {
  TestServer server(2);
  RawConnection first(server.port()), second(server.port());
  ASSERT_EQ(first.log_in("echo", "echo")[0], kOkHeader);
  ASSERT_EQ(second.log_in("echo", "echo")[0], kOkHeader);
  EXPECT_EQ(login_error(server.port(), "echo", "echo"), er::kConCount);
  EXPECT_EQ(login_error(server.port(), "boss", "boss"), 0);
  EXPECT_EQ(login_error(server.admin_port(), "echo", "echo"), 0);
}

TEST(MaxConnections, WhoDoesNotLogInCannotTakeEveryPlaceFromTheAdminPort) {
  TestServer server(1);
  std::vector<RawConnection> silent;
  for (int i = 0; i < 40; ++i) silent.emplace_back(server.port());
  EXPECT_EQ(login_error(server.admin_port(), "echo", "echo"), 0);
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (size_t got = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, got);
  pclose(pipe);
  return output;
}

TEST_F(Login, TheMariadbClientLogsInOverTcpAndTheUnixSocket) {
  if (std::system("command -v mariadb >/dev/null 2>&1") != 0) GTEST_SKIP() << "no mariadb client here";
  for (std::string user : {"echo", "native", "crypt"}) {
    std::string common = "mariadb --no-defaults --batch -u " + user + " -p" + user + " -e 'hello there' ";
    EXPECT_EQ(output_of(common + "-h 127.0.0.1 -P " + std::to_string(server_.port())), "echo\nhello there\n")
        << user;
    EXPECT_EQ(output_of(common + "-S " + server_.socket_path()), "echo\nhello there\n") << user;
  }
}

}  // namespace
}  // namespace commitd::wire::testing

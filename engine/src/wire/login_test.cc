// Logins: our own client, the raw protocol, and the mariadb command line client when there is one.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "observe/metrics.h"
#include "runtime/idle_spin.h"
#include "wire/auth/password.h"
#include "wire/auth/rsa_key.h"
#include "wire/client.h"
#include "wire/protocol.h"
#include "wire/testing/raw_connection.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
namespace {

using namespace std::chrono_literals;

using Rows = std::vector<Client::TextRow>;

Task<Result<Rows>> query_with(ClientOptions options, std::string sql) {
  auto client = co_await Client::connect(options);
  if (!client.ok()) co_return std::move(client).error();
  co_return co_await (*client)->query(sql, Clock::now() + 20s);
}

uint16_t login_error(const ClientOptions& options) {
  auto rows = run_blocking(query_with(options, "hello"));
  return rows.ok() ? 0 : rows.error().code;
}

uint16_t login_error(uint16_t port, const std::string& user, const std::string& password) {
  return login_error({"127.0.0.1", port, user, password, Clock::now() + 20s});
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

TEST(GreetingForm, GivesWhatTheGreetingWouldHaveBeen) {
  for (const char* version : {"8.4.0-commitd", ""}) {
    Greeting greeting;
    greeting.server_version = version;
    greeting.capabilities = server_capabilities() | capability::kSsl;
    greeting.plugin = kCachingSha2;
    const GreetingForm form(greeting);
    for (const uint32_t id : {1u, 0xfedcba98u}) {
      greeting.connection_id = id;
      greeting.salt = random_salt();
      std::string packet = "before";
      form.append_to(packet, id, greeting.salt);
      EXPECT_EQ(packet, "before" + encode(greeting));
    }
  }
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

// Whoever answers in the server's place could send a key of his own, and read the password.
TEST_F(Login, APasswordIsEncryptedWithNoOtherKeyThanOneThatWasAllowed) {
  ClientOptions options{"127.0.0.1", server_.port(), "crypt", "crypt", Clock::now() + 20s};
  options.get_public_key = false;
  EXPECT_EQ(login_error(options), er::kClientAuthPlugin);
  options.public_key = "no key";
  EXPECT_NE(login_error(options), 0);
  const TestServer another;
  options.public_key = RsaKey::load_or_create(another.directory())->public_pem();
  EXPECT_EQ(login_error(options), er::kAccessDenied);
  options.public_key = RsaKey::load_or_create(server_.directory())->public_pem();
  EXPECT_EQ(login_error(options), 0);
}

// As MariaDB's replica does, which has no caching_sha2_password: the question that its answer came to.
std::string native_question(RawConnection& connection) {
  connection.receive_packet();
  HandshakeResponse response;
  response.capabilities = capability::kProtocol41 | capability::kSecureConnection | capability::kPluginAuth |
                          capability::kPluginAuthLenenc;
  response.user = "native";
  response.plugin = kNativePassword;
  connection.send_packet(1, encode(response));
  return connection.receive_packet().value_or("");
}

TEST_F(Login, WhoDoesNotKnowTheGreetingsMethodIsAskedForItsOwn) {
  const auto answer = [this](std::string_view password) {
    RawConnection connection(server_.port());
    const std::string question = native_question(connection);
    ByteReader in(question);
    EXPECT_EQ(in.u8(), kAuthSwitch);
    EXPECT_EQ(in.nul_string(), kNativePassword);
    connection.send_packet(3, native_response(password, in.bytes(kSaltSize)));
    return connection.receive_packet().value_or("");
  };
  EXPECT_EQ(answer("native").at(0), kOkHeader);
  EXPECT_EQ(error_code(answer("wrong")), er::kAccessDenied);
  EXPECT_EQ(error_code(answer("")), er::kAccessDenied);
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

double bytes_received() {
  for (const auto& [name, value] : observe::snapshot()) {
    if (name == "commitd_network_bytes_received_total") return value;
  }
  return 0;
}

// `first` bytes at once, then one by one. Each piece is there, and was looked at, before the next is sent.
void send_in_pieces(RawConnection& connection, std::string_view bytes, size_t first = 1) {
  for (size_t size = first; !bytes.empty(); bytes.remove_prefix(size), size = 1) {
    const double before = bytes_received();
    const auto hang = Clock::now() + 20s;
    connection.send_bytes(bytes.substr(0, size));
    while (bytes_received() == before && Clock::now() < hang) std::this_thread::yield();
  }
}

std::string as_packet(uint8_t sequence, std::string_view payload) {
  std::string packet(4, '\0');
  store_le24(packet.data(), static_cast<uint32_t>(payload.size()));
  packet[3] = static_cast<char>(sequence);
  return packet.append(payload);
}

std::string login_packet(RawConnection& connection, const std::string& user, const std::string& password) {
  auto greeting = decode_greeting(connection.receive_packet().value_or(""));
  HandshakeResponse response;
  response.capabilities = capability::kProtocol41 | capability::kSecureConnection | capability::kPluginAuth |
                          capability::kPluginAuthLenenc;
  response.user = user;
  response.plugin = kCachingSha2;
  response.auth_response = sha2_response(password, greeting->salt);
  return as_packet(1, encode(response));
}

std::string without_salt(std::string answer) {
  const bool asks_for_another_method = !answer.empty() && static_cast<uint8_t>(answer[0]) == kAuthSwitch;
  return asks_for_another_method ? answer.substr(0, answer.find('\0')) : answer;
}

TEST_F(Login, InPiecesItIsAnsweredAsInOne) {
  for (std::string user : {"echo", "native", "crypt", "nobody", "locked", "stranger"}) {
    for (std::string password : {user, std::string("wrong"), std::string()}) {
      RawConnection whole(server_.port()), pieces(server_.port()), all_but_one(server_.port());
      whole.send_bytes(login_packet(whole, user, password));
      send_in_pieces(pieces, login_packet(pieces, user, password));
      const std::string packet = login_packet(all_but_one, user, password);
      send_in_pieces(all_but_one, packet, packet.size() - 1);
      const std::string answer = without_salt(whole.receive_packet().value_or("nothing"));
      for (RawConnection* connection : {&pieces, &all_but_one})
        EXPECT_EQ(answer, without_salt(connection->receive_packet().value_or("nothing")))
            << user << " " << password;
      EXPECT_NE(answer, "nothing");
    }
  }
}

TEST_F(Login, CommandsInPiecesOrAllAtOnceAreAnsweredInTheirOrder) {
  const std::string one = as_packet(0, "\x03one"), two = as_packet(0, "\x03two");
  const auto answers = [&](const auto& send) {
    RawConnection connection(server_.port());
    EXPECT_EQ(connection.log_in("echo", "echo").at(0), kOkHeader);
    send(connection);
    std::string all;
    while (auto packet = connection.receive_packet()) all += *packet + '\n';
    return all;
  };
  const std::string quit = as_packet(0, "\x01");
  const std::string expected = answers([&](RawConnection& connection) {
    connection.send_bytes(one);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(connection.receive_packet());
    connection.send_bytes(two + quit);
  });
  EXPECT_NE(expected.find("two"), std::string::npos);
  EXPECT_EQ(answers([&](RawConnection& connection) { send_in_pieces(connection, two + quit); }), expected);
  EXPECT_EQ(answers([&](RawConnection& connection) {
              send_in_pieces(connection, two, two.size() - 1);
              connection.send_bytes(quit);
            }),
            expected);
  const std::string both =
      answers([&](RawConnection& connection) { connection.send_bytes(one + two + quit); });
  EXPECT_LT(both.find("one"), both.find("two"));
  EXPECT_TRUE(both.ends_with(expected));
  // What stands behind the end is not executed.
  EXPECT_EQ(answers([&](RawConnection& connection) { connection.send_bytes(two + quit + one); }), expected);
}

double aborted_connects() {
  for (const auto& [name, value] : observe::snapshot()) {
    if (name == "commitd_aborted_connects_total") return value;
  }
  return 0;
}

TEST_F(Login, WhoLeavesInTheMiddleOfItIsCounted) {
  for (const size_t sent : {size_t{0}, size_t{1}, size_t{4}, size_t{20}}) {
    const double before = aborted_connects();
    {
      RawConnection connection(server_.port());
      connection.send_bytes(login_packet(connection, "echo", "echo").substr(0, sent));
    }
    while (aborted_connects() == before) std::this_thread::yield();
    EXPECT_EQ(aborted_connects(), before + 1);
  }
  EXPECT_EQ(login_error(server_.port(), "echo", "echo"), 0);
}

// Two of them at a time are more than one client that is served alone.
TEST_F(Login, CountsAsWork) {
  IdleSpin::set_limit(1h);
  const auto looks = [] {
    IdleSpin spin;
    bool looked = false;
    for (int i = 0; i < 10; ++i) {
      spin.look([&] { return looked = true; });
      spin.over();
    }
    return looked;
  };
  {
    RawConnection first(server_.port());
    EXPECT_TRUE(first.receive_packet());
    EXPECT_TRUE(looks());
    RawConnection second(server_.port());
    EXPECT_TRUE(second.receive_packet());
    EXPECT_FALSE(looks());
    EXPECT_EQ(login_error(server_.port(), "echo", "echo"), 0);
    EXPECT_FALSE(looks());
  }
  while (!looks()) std::this_thread::yield();
  IdleSpin::set_limit(0us);
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

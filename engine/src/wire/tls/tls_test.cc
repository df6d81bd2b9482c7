// TLS on a real connection: our client and raw bytes against the server. Foreign clients are in
// engine/test/tls_test.py.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error_codes.h"
#include "base/file.h"
#include "wire/client.h"
#include "wire/protocol.h"
#include "wire/testing/raw_connection.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
namespace {

using namespace std::chrono_literals;

Task<Result<std::string>> query_over_tls(ClientOptions options, std::string sql) {
  auto client = co_await Client::connect(options);
  if (!client.ok()) co_return std::move(client).error();
  auto rows = co_await (*client)->query(sql, Clock::now() + 20s);
  if (!rows.ok()) co_return std::move(rows).error();
  co_return (*rows)[0][0].value_or("");
}

class Tls : public ::testing::Test {
 protected:
  TlsSettings trusting_the_ca() {
    TlsSettings settings;
    settings.ca = server_.directory() + "/ca.pem";
    return settings;
  }
  TlsSettings with_certificate() {
    TlsSettings settings = trusting_the_ca();
    settings.certificate = server_.directory() + "/client-cert.pem";
    settings.key = server_.directory() + "/client-key.pem";
    return settings;
  }
  Result<std::string> query(std::string user, std::optional<TlsSettings> tls, std::string sql = "tls",
                            const ServerExpectations& expected = {}) {
    ClientOptions options{"127.0.0.1", server_.port(), user, user, Clock::now() + 20s, nullptr};
    if (tls) {
      auto context = TlsContext::for_client(*tls, expected);
      if (!context.ok()) return std::move(context).error();
      options.tls = *context;
    }
    return run_blocking(query_over_tls(std::move(options), std::move(sql)));
  }
  static uint16_t code(const Result<std::string>& result) {
    return result.ok() ? 0 : const_cast<Result<std::string>&>(result).error().code;
  }

  TestServer server_;
};

TEST_F(Tls, BothVersionsWorkAndTheClientChoosesWithinWhatIsAllowed) {
  for (std::string version : {"TLSv1.2", "TLSv1.3"}) {
    TlsSettings settings = trusting_the_ca();
    settings.versions = version;
    auto answer = query("echo", settings);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(*answer, version);
  }
  server_.tls_settings().versions = "TLSv1.3";
  ASSERT_TRUE(server_.tls().load().ok());
  TlsSettings old = trusting_the_ca();
  old.versions = "TLSv1.2";
  EXPECT_EQ(code(query("echo", old)), er::kClientTlsError);
  EXPECT_EQ(code(query("echo", trusting_the_ca())), 0);
}

TEST_F(Tls, EachMethodOfLoginWorksOverIt) {
  for (std::string user : {"echo", "native", "crypt"})
    EXPECT_EQ(code(query(user, trusting_the_ca())), 0) << user;
  EXPECT_EQ(code(query("nobody", trusting_the_ca())),
            er::kAccessDenied);  // who has no password, but gives one
}

TEST_F(Tls, RowsOfManyRecordsArriveWhole) {
  auto answer = query("echo", trusting_the_ca(), "big 3000000");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, std::string(3'000'000, 'b'));
}

TEST_F(Tls, AnAccountThatRequiresItGetsInWithNothingLess) {
  EXPECT_EQ(code(query("tls", std::nullopt)), er::kAccessDenied);
  EXPECT_EQ(code(query("tls", trusting_the_ca())), 0);
  EXPECT_EQ(code(query("x509", std::nullopt)), er::kAccessDenied);
  EXPECT_EQ(code(query("x509", trusting_the_ca())), er::kAccessDenied);
  EXPECT_EQ(code(query("x509", with_certificate())), 0);
}

TEST_F(Tls, RequireSecureTransportRefusesPlainTcpButNotTheUnixSocket) {
  server_.limits().require_secure_transport = true;
  EXPECT_EQ(code(query("echo", std::nullopt)), er::kSecureTransportRequired);
  EXPECT_EQ(code(query("echo", trusting_the_ca())), 0);
  auto local = RawConnection::to_unix_socket(server_.socket_path());
  EXPECT_EQ(local.log_in("echo", "echo")[0], kOkHeader);
}

TEST_F(Tls, AStrangeCaIsRefusedByTheClientAndAStrangeCertificateByTheServer) {
  TestServer stranger;
  TlsSettings other_ca = trusting_the_ca();
  other_ca.ca = stranger.directory() + "/ca.pem";
  EXPECT_EQ(code(query("echo", other_ca)), er::kClientTlsError);
  TlsSettings other_certificate = trusting_the_ca();
  other_certificate.certificate = stranger.directory() + "/client-cert.pem";
  other_certificate.key = stranger.directory() + "/client-key.pem";
  EXPECT_FALSE(query("echo", other_certificate).ok());
  EXPECT_EQ(code(query("echo", trusting_the_ca())), 0);
}

TEST_F(Tls, WhereTheNameIsAskedACertificateForAnotherOneIsRefused) {
  ServerExpectations expected;
  for (const char* own : {"127.0.0.1", "localhost"}) {
    expected.server_name = own;
    EXPECT_EQ(code(query("echo", trusting_the_ca(), "tls", expected)), 0) << own;
  }
  for (const char* other : {"127.0.0.2", "db.example.com"}) {
    expected.server_name = other;
    EXPECT_EQ(code(query("echo", trusting_the_ca(), "tls", expected)), er::kClientTlsError) << other;
  }
  EXPECT_EQ(code(query("echo", TlsSettings{}, "tls", expected)), er::kSslLibraryError)
      << "nobody says that the name is true";
}

// CVE-2021-23214 and its like: what somebody between the two put behind the request for TLS must not be taken
// for the client's word.
TEST_F(Tls, PlainBytesBehindTheRequestForTlsAreNeverACommandOrALogin) {
  RawConnection connection(server_.port());
  auto greeting = decode_greeting(connection.receive_packet().value_or(""));
  ASSERT_TRUE(greeting.ok());
  EXPECT_NE(greeting->capabilities & capability::kSsl, 0u);
  HandshakeResponse login;
  login.capabilities = server_capabilities();
  login.user = "nobody";
  login.plugin = "caching_sha2_password";
  std::string injected = encode(login);
  std::string request = encode_tls_request(capability::kProtocol41);
  std::string bytes = std::string("\x20\0\0\1", 4) + request;
  bytes += std::string{static_cast<char>(injected.size()), 0, 0, 2} + injected;
  connection.send_bytes(bytes);
  connection.finish_sending();
  std::string all;
  for (char byte; connection.receive_bytes(&byte, 1);) all += byte;
  EXPECT_LT(all.size(), 16u) << "an alert and nothing more";
  EXPECT_EQ(code(query("echo", trusting_the_ca())), 0);
}

TEST_F(Tls, AReloadThatFailsLeavesWhatWasThere) {
  auto before = server_.tls().current();
  server_.tls_settings().certificate = "/nowhere/at/all.pem";
  server_.tls_settings().key = "server-key.pem";
  Status failed = server_.tls().load();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, er::kSslLibraryError);
  EXPECT_NE(failed.error().message.find("/nowhere/at/all.pem"), std::string::npos) << failed.error().message;
  EXPECT_EQ(server_.tls().current(), before);
}

TEST_F(Tls, AReloadedCertificateIsForNewConnections) {
  TestServer other;
  for (const char* name : {"ca.pem", "server-cert.pem", "server-key.pem"}) {
    std::filesystem::copy_file(other.directory() + "/" + name, server_.directory() + "/" + name,
                               std::filesystem::copy_options::overwrite_existing);
  }
  TlsSettings new_ca = trusting_the_ca();
  EXPECT_EQ(code(query("echo", new_ca)), er::kClientTlsError);
  ASSERT_TRUE(server_.tls().load().ok());
  EXPECT_EQ(code(query("echo", new_ca)), 0);
}

TEST_F(Tls, KeysAreForTheServerAlone) {
  for (const char* name : {"ca-key.pem", "server-key.pem", "client-key.pem"}) {
    auto permissions = std::filesystem::status(server_.directory() + "/" + name).permissions();
    EXPECT_EQ(permissions & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none)
        << name;
  }
}

TEST_F(Tls, WithoutVersionsItIsNotOffered) {
  server_.tls_settings().versions = "";
  ASSERT_TRUE(server_.tls().load().ok());
  EXPECT_EQ(code(query("echo", trusting_the_ca())), er::kClientTlsError);
  EXPECT_EQ(code(query("echo", std::nullopt)), 0);
}

}  // namespace
}  // namespace commitd::wire::testing

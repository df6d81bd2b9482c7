#include "wire/testing/test_server.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>

#include <openssl/sha.h>

#include "base/error_codes.h"
#include "runtime/socket.h"
#include "wire/auth/password.h"

namespace commitd::wire::testing {

namespace {

std::string double_sha1(std::string_view password) {
  unsigned char once[SHA_DIGEST_LENGTH], twice[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(password.data()), password.size(), once);
  SHA1(once, sizeof(once), twice);
  return {reinterpret_cast<char*>(twice), sizeof(twice)};
}

std::string temporary_directory() {
  std::string pattern = std::filesystem::temp_directory_path() / "wire_test.XXXXXX";
  return mkdtemp(pattern.data());
}

uint16_t free_port() {
  auto fd = listen_tcp("127.0.0.1", 0);
  return local_address(fd->get()).port();
}

}  // namespace

std::optional<sql::Account> TestAccounts::find(std::string_view user, std::string_view client_host) {
  sql::Account account;
  account.user = user;
  account.host = client_host;
  account.plugin = user == "native" ? kNativePassword : kCachingSha2;
  if (user == "echo" || user == "locked" || user == "replica" || user == "boss" || user == "tls" ||
      user == "x509") {
    account.auth_string = sha256(sha256(user));
  } else if (user == "crypt") {
    constexpr std::string_view kSalt = "twenty bytes of salt";
    account.auth_string = "$A$005$" + std::string(kSalt) + sha256_crypt(user, kSalt, 5000);
  } else if (user == "native") {
    account.auth_string = double_sha1(user);
  } else if (user != "nobody") {
    return std::nullopt;
  }
  account.locked = user == "locked";
  if (user == "boss") account.built_in = sql::BuiltIn::Operator;
  if (user == "tls") account.require = sql::TlsRequirement::Tls;
  if (user == "x509") account.require = sql::TlsRequirement::Certificate;
  return account;
}

Task<Status> TestDumps::dump(sql::Session&, Channel& channel, DumpRequest request) {
  requested = request;
  for (int i = 0;; ++i) {
    channel.write_packet(std::string_view("\0event ", 7), std::to_string(i));
    COMMITD_CO_RETURN_IF_ERROR(co_await channel.flush());
    auto answer = co_await channel.read_packet();
    if (!answer.ok()) co_return std::move(answer).error();
    if (*answer == "enough") break;
  }
  co_return make_error(er::kSourceFatalReadingBinlog, "no more events");
}

TestServer::TestServer(uint32_t max_connections, bool thread_per_connection)
    : directory_(temporary_directory()), tls_([this] { return tls_settings_; }, directory_, true) {
  socket_path_ = directory_ + "/server.sock";
  if (auto loaded = tls_.load(); !loaded.ok()) abort();

  ProtocolServerOptions server;
  server.socket_path = socket_path_;
  limits_->max_connections = max_connections;
  server.limits = limits_;
  server.thread_per_connection = thread_per_connection;
  server.server_version = "8.4.0-commitd";
  server.private_key_directory = directory_;
  server.tls = &tls_;
  server.why_offline_for = [this](const sql::Account& account) {
    return offline_ && account.user != "native" ? std::string_view("for a test") : std::string_view();
  };

  std::vector<Reactor*> reactors;
  for (int i = 0; i < 2; ++i) {
    reactors_.push_back(std::make_unique<Reactor>("wire-test"));
    reactors.push_back(reactors_.back().get());
  }
  Status listening;
  // Another process may take a port between the moment at which it was free and this server's.
  for (int attempt = 0; attempt < 10; ++attempt) {
    server.port = port_ = free_port();
    server.admin_port = admin_port_ = free_port();
    server_ = std::make_unique<ProtocolServer>(server, reactors, context_, accounts_, dumps_);
    listening = server_->listen();
    if (listening.ok()) break;
  }
  if (!listening.ok()) {
    std::fprintf(stderr, "%s\n", listening.error().message.c_str());
    abort();
  }
  for (Reactor* reactor : reactors) threads_.emplace_back([reactor] { reactor->run(); });
}

TestServer::~TestServer() {
  server_->stop_accepting();
  run_blocking(server_->close_sessions(ProtocolServer::Which::All, Clock::now() + std::chrono::seconds(10)));
  server_->stop_threads();
  for (auto& reactor : reactors_) reactor->stop();
  for (auto& thread : threads_) thread.join();
  reactors_.clear();
  std::filesystem::remove_all(directory_);
}

}  // namespace commitd::wire::testing

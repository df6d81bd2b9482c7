// A protocol server with echo sessions on two reactors, for tests.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sql/server_context.h"
#include "wire/protocol_server.h"

namespace commitd::wire::testing {

// The password of every account is its user's name, except "nobody", who has none. Users: echo
// (caching_sha2_password by double hash), crypt (by MySQL's crypt string), native, nobody, locked, replica,
// tls and x509 (who must connect so), and boss, who is the operator.
class TestAccounts final : public sql::AccountDirectory {
 public:
  std::optional<sql::Account> find(std::string_view user, std::string_view client_host) override;
};

// Sends "event <n>" packets until an acknowledgement "enough" comes, then ends with an error.
class TestDumps final : public DumpHandler {
 public:
  Task<Status> dump(sql::Session& session, Channel& channel, DumpRequest request) override;

  DumpRequest requested;
};

// Statements "wait" that wait right now.
extern std::atomic<int> waiting_statements;

class TestServer {
 public:
  explicit TestServer(uint32_t max_connections = 100, bool thread_per_connection = false);
  ~TestServer();

  uint16_t port() const { return port_; }
  uint16_t admin_port() const { return admin_port_; }
  const std::string& socket_path() const { return socket_path_; }
  TestDumps& dumps() { return dumps_; }
  ServerLimits& limits() { return *limits_; }
  TlsService& tls() { return tls_; }
  TlsSettings& tls_settings() { return tls_settings_; }
  const std::string& directory() const { return directory_; }
  ProtocolServer& server() { return *server_; }
  // For all but "native", who administrates.
  void go_offline(bool offline) { offline_ = offline; }

 private:
  std::string directory_, socket_path_;
  TlsSettings tls_settings_;
  TlsService tls_;
  std::shared_ptr<ServerLimits> limits_ = std::make_shared<ServerLimits>();
  uint16_t port_ = 0, admin_port_ = 0;
  std::atomic<bool> offline_{false};
  sql::ServerContext context_;
  TestAccounts accounts_;
  TestDumps dumps_;
  std::vector<std::unique_ptr<Reactor>> reactors_;
  std::unique_ptr<ProtocolServer> server_;
  std::vector<std::thread> threads_;
};

}  // namespace commitd::wire::testing

// Listens, accepts, authenticates and runs one session coroutine per connection on one of the reactors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/reactor.h"
#include "sql/account.h"
#include "sql/session.h"
#include "wire/replication_commands.h"

namespace commitd::wire {

struct ProtocolServerOptions {
  std::string bind_address = "127.0.0.1";
  uint16_t port = 3306;     // 0 = none
  std::string socket_path;  // empty = none
  std::string admin_address = "127.0.0.1";
  uint16_t admin_port = 0;  // not subject to max_connections
  uint32_t max_connections = 10000;
  uint32_t max_allowed_packet = 64u << 20;
  std::string server_version;
  std::string private_key_directory;  // RSA key for caching_sha2_password, made at first start
};

class ProtocolServer {
 public:
  ProtocolServer(ProtocolServerOptions options, std::span<Reactor* const> reactors,
                 sql::ServerContext& server, sql::AccountDirectory& accounts, DumpHandler& dumps);
  ~ProtocolServer();

  Status listen();  // binds and starts accepting
  void stop_accepting();
  // Asks every session to end (all, or all but the operator's and those of readers of the log) and waits for
  // them.
  enum class Which { All, Clients };
  Task<void> close_sessions(Which which, Deadline deadline);
  uint32_t session_count() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace commitd::wire

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
#include "wire/server_limits.h"
#include "wire/tls/tls_service.h"

namespace commitd::wire {

struct ProtocolServerOptions {
  std::string bind_address = "127.0.0.1";
  uint16_t port = 3306;     // 0 = none
  std::string socket_path;  // empty = none
  std::string admin_address = "127.0.0.1";
  uint16_t admin_port = 0;           // not subject to max_connections
  Reactor* admin_reactor = nullptr;  // accepts and serves there; null: one of the sessions' own
  std::shared_ptr<ServerLimits> limits = std::make_shared<ServerLimits>();
  std::string server_version;
  bool thread_per_connection = false;  // thread_handling=one-thread-per-connection
  TlsService* tls = nullptr;           // null = TLS is not offered
  CloneHandler* clones = nullptr;      // null = there is no COM_CLONE
  // Why clients of this account are answered with error 3032 for now, and sent away; empty: they are not.
  // Asked of every command.
  std::function<std::string_view(const sql::Account&)> why_offline_for;
  std::string private_key_directory;  // RSA key for caching_sha2_password, made at first start
};

class ProtocolServer {
 public:
  ProtocolServer(ProtocolServerOptions options, std::span<Reactor* const> reactors,
                 sql::ServerContext& server, sql::AccountDirectory& accounts, DumpHandler& dumps);
  ~ProtocolServer();

  Status listen();  // binds and starts accepting
  void stop_accepting();
  // Sessions on threads of their own that have not ended are ended where they wait. Those on the reactors end
  // with them.
  void stop_threads();
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

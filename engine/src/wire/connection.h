// One client's connection: login, then commands until it quits. Lives in one coroutine of one reactor.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sql/session.h"
#include "wire/auth/authenticator.h"
#include "wire/connection_registry.h"
#include "wire/handshake.h"
#include "wire/packet_channel.h"
#include "wire/protocol.h"
#include "wire/protocol_server.h"
#include "wire/result_writer.h"
#include "wire/statement_parameters.h"

namespace commitd::wire {

// What all connections of a server share.
struct ConnectionContext {
  const ProtocolServerOptions& options;
  sql::ServerContext& server;
  DumpHandler& dumps;
  Authenticator& authenticator;
  ConnectionRegistry& registry;
};

enum class Entrance { Tcp, UnixSocket, Admin };

class Connection final : public RegisteredConnection {
 public:
  Connection(ConnectionContext& context, std::unique_ptr<Socket> socket, uint32_t id, Entrance entrance);
  ~Connection() override;

  Task<void> run();

  // Any thread. A statement that runs is ended and answered; a connection that waits is closed.
  void ask_to_end() override { session_.kill(true); }
  bool counts_as_client() const override { return !is_operator_.load() && !dumping_.load(); }

 private:
  void close_socket_when_killed();
  Task<bool> log_in();
  Task<Status> answer_greeting(Deadline deadline);
  Task<Status> authenticate(LoginAttempt attempt, const HandshakeResponse& request, Deadline deadline);
  Status check_limit() const;

  Task<void> serve_commands();
  Task<bool> serve(std::string_view packet);  // false: the connection ends

  Task<void> use_database(std::string_view db);
  Task<void> query(std::string_view sql);
  Task<void> field_list(std::string_view arguments);
  Task<void> prepare(std::string_view sql);
  Task<void> execute(std::string_view arguments);
  void send_long_data(std::string_view arguments);
  void close_statement(std::string_view arguments);
  void reset_statement(std::string_view arguments);
  void set_option(std::string_view arguments);
  void statistics();
  Task<void> kill_process(std::string_view arguments);
  Task<bool> change_user(std::string_view arguments);
  Task<void> reset_connection();
  void register_replica(std::string_view arguments);
  Task<void> dump(std::string_view arguments, bool by_gtid);

  void write_ok();
  bool deprecate_eof() const { return (capabilities_ & capability::kDeprecateEof) != 0; }

  ConnectionContext& context_;
  Socket& socket_;
  PacketChannel channel_;
  Entrance entrance_;
  uint32_t id_;
  uint32_t capabilities_ = 0;
  std::atomic<bool> is_operator_{false}, dumping_{false};
  std::unordered_map<uint32_t, StatementParameters> statements_;
  sql::Session session_;
};

}  // namespace commitd::wire

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
#include "wire/tls/tls_stream.h"

namespace commitd::wire {

// What all connections of a server share.
struct ConnectionContext {
  const ProtocolServerOptions& options;
  sql::ServerContext& server;
  DumpHandler& dumps;
  Authenticator& authenticator;
  ConnectionRegistry& registry;
  GreetingForm greeting, greeting_with_tls;
};

enum class Entrance { Tcp, UnixSocket, Admin };

class Connection final : public RegisteredConnection {
 public:
  Connection(ConnectionContext& context, std::unique_ptr<Socket> socket, uint32_t id, Entrance entrance);
  ~Connection() override;

  Task<void> run();

  // Any thread. A statement that runs is ended and answered; a connection that waits is closed.
  void ask_to_end() override { session_.kill(true); }
  bool counts_as_client() const override {
    return !is_built_in_.load() && !dumping_.load() && !session_.gives_role();
  }

 private:
  void close_socket_when_killed();
  void answer_login(const Status& logged_in);
  Task<Status> answer_greeting(Deadline deadline);
  Task<Status> start_tls(std::shared_ptr<const TlsContext> context, Deadline deadline);
  Status check_transport() const;
  Status check_requirement(const sql::Account& account) const;
  // Both arguments are the caller's until the answer.
  Task<Status> authenticate(LoginAttempt& attempt, const HandshakeResponse& request, Deadline deadline);
  Task<Status> ask_for_more(Authenticator::Candidate candidate, LoginAttempt& attempt,
                            const HandshakeResponse& request, Deadline deadline);
  Status admit(const sql::Account& account, const HandshakeResponse& request);
  const ServerLimits& limits() const { return *context_.options.limits; }
  Deadline login_deadline() const;
  Status check_limit() const;
  // The lease of the server's mastership: whoever administrates it is always served.
  bool lease_holds() const;
  std::string_view why_offline() const;  // for this account; empty: it is not
  bool is_always_served() const { return entrance_ == Entrance::Admin || !counts_as_client(); }
  Status take_place_of_user(const sql::Account& account);

  // Errors about the packets themselves are told to the client; a connection that is gone just ends.
  static bool is_worth_telling(const Error& error);
  std::chrono::seconds apply_limits();  // gives wait_timeout
  // What comes in pieces, through TLS, or not at all.
  Task<Result<std::string>> next_command(Deadline deadline);
  Task<void> end_with(const Error& error);
  Task<void> serve_commands();
  Task<bool> serve(std::string_view packet);  // false: the connection ends
  Task<bool> serve_rarer(std::string_view packet);

  Task<void> use_database(std::string_view db);
  Task<bool> query(std::string_view sql);
  Task<void> field_list(std::string_view arguments);
  Task<void> prepare(std::string_view sql);
  Task<bool> execute(std::string_view arguments);
  void send_long_data(std::string_view arguments);
  void close_statement(std::string_view arguments);
  void reset_statement(std::string_view arguments);
  void set_option(std::string_view arguments);
  void statistics();
  Task<bool> kill_process(std::string_view arguments);
  Task<bool> change_user(std::string_view arguments);
  Task<void> reset_connection();
  void register_replica(std::string_view arguments);
  Task<void> dump(std::string_view arguments, bool by_gtid);
  Task<bool> clone(std::string_view arguments);

  Task<bool> refresh(std::string_view arguments);

  sql::OkInfo ok_info() const;
  void write_ok();
  bool can(uint32_t capability) const { return (capabilities_ & capability) != 0; }
  bool deprecate_eof() const { return can(capability::kDeprecateEof); }
  // Closes the connection when what the client still had to send did not come.
  Task<bool> finish(ResultWriter& writer);

  ConnectionContext& context_;
  Socket& socket_;
  PacketChannel channel_;
  Entrance entrance_;
  uint32_t id_;
  uint32_t capabilities_ = 0;
  TlsStream* tls_ = nullptr;  // the channel's stream, once it is one
  std::optional<RegisterReplica> replica_;
  std::atomic<bool> is_built_in_{false}, dumping_{false};
  sql::Account account_;
  std::unordered_map<uint32_t, StatementParameters> statements_;
  sql::Session session_;
};

}  // namespace commitd::wire

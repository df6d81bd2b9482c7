#include "wire/connection.h"

#include <sys/socket.h>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "wire/auth/password.h"
#include "wire/packets.h"

namespace commitd::wire {

namespace {

constexpr std::chrono::seconds kLoginTimeout{10};  // MySQL's connect_timeout
constexpr uint32_t kMaxLoginPacket = 256 * 1024;   // nobody has proved anything yet

observe::Gauge& open_connections() {
  static auto& gauge = observe::gauge("commitd_connections", "Client connections that are open.");
  return gauge;
}

observe::Counter& aborted_connects() {
  static auto& counter =
      observe::counter("commitd_aborted_connects_total", "Connections that ended before they had logged in.");
  return counter;
}

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "::1";
}

// Errors about the packets themselves are told to the client; a connection that is gone or silent just ends.
bool is_worth_telling(const Error& error) {
  return error.code != er::kNetReadError && error.code != er::kNetReadInterrupted &&
         error.code != er::kNetErrorOnWrite;
}

}  // namespace

Connection::Connection(ConnectionContext& context, std::unique_ptr<Socket> socket, uint32_t id,
                       Entrance entrance)
    : context_(context),
      socket_(*socket),
      channel_(socket_stream(std::move(socket)), kMaxLoginPacket),
      entrance_(entrance),
      id_(id),
      session_(context.server, id) {
  session_.on_kill([this] { close_socket_when_killed(); });
  context_.registry.add(*this);
  open_connections().add(1);
}

Connection::~Connection() {
  context_.registry.remove(*this);
  open_connections().add(-1);
}

// On the killer's thread. Ending the input lets a statement that runs still be answered with why it ended;
// only who waits for a client to take its answer must lose the output as well.
void Connection::close_socket_when_killed() {
  ::shutdown(socket_.fd(), channel_.sending() ? SHUT_RDWR : SHUT_RD);
}

Task<void> Connection::run() {
  static auto& connections = observe::counter("commitd_connections_total", "Connections accepted.");
  connections.add();
  if (co_await log_in()) {
    co_await serve_commands();
  } else {
    aborted_connects().add();
  }
}

Task<bool> Connection::log_in() {
  Status logged_in = co_await answer_greeting(Clock::now() + kLoginTimeout);
  if (logged_in.ok()) {
    channel_.set_max_packet(context_.options.max_allowed_packet);
    write_ok();
  } else if (is_worth_telling(logged_in.error())) {
    write_error(channel_, logged_in.error());
  }
  Status sent = co_await channel_.flush();
  co_return logged_in.ok() && sent.ok();
}

Task<Status> Connection::answer_greeting(Deadline deadline) {
  Greeting greeting;
  greeting.server_version = context_.options.server_version;
  greeting.connection_id = id_;
  greeting.salt = random_salt();
  greeting.capabilities = server_capabilities();
  greeting.plugin = kCachingSha2;
  channel_.write_packet(encode(greeting));
  COMMITD_CO_RETURN_IF_ERROR(co_await channel_.flush());

  auto packet = co_await channel_.read_packet(deadline);
  if (!packet.ok()) co_return std::move(packet).error();
  auto response = decode_handshake_response(*packet);
  if (!response.ok()) co_return std::move(response).error();
  capabilities_ = response->capabilities;

  LoginAttempt attempt;
  attempt.user = response->user;
  attempt.plugin = response->plugin.empty() ? std::string(kNativePassword) : response->plugin;
  attempt.response = response->auth_response;
  attempt.salt = greeting.salt;
  co_return co_await authenticate(std::move(attempt), *response, deadline);
}

Task<Status> Connection::authenticate(LoginAttempt attempt, const HandshakeResponse& request,
                                      Deadline deadline) {
  attempt.client_host = channel_.peer_address();
  // MariaDB's client sends the password in clear over loopback as well.
  attempt.secure_transport = entrance_ == Entrance::UnixSocket || is_loopback(attempt.client_host);
  auto account = co_await context_.authenticator.authenticate(channel_, attempt, deadline);
  if (!account.ok()) co_return std::move(account).error();
  is_operator_.store(account->is_operator);
  COMMITD_CO_RETURN_IF_ERROR(check_limit());
  session_.set_user(*account, attempt.client_host);
  session_.set_client_collation(request.collation);
  session_.set_multi_statements((capabilities_ & capability::kMultiStatements) != 0);
  session_.set_found_rows((capabilities_ & capability::kFoundRows) != 0);
  if (!request.database.empty()) co_return co_await session_.use_database(request.database);
  co_return Status();
}

// Only who has logged in can be told from the operator, who must get in when all other places are taken.
Status Connection::check_limit() const {
  if (entrance_ == Entrance::Admin || is_operator_.load()) return {};
  if (context_.registry.count() <= context_.options.max_connections) return {};
  return make_error(er::kConCount, "Too many connections");
}

Task<void> Connection::serve_commands() {
  while (!session_.killed()) {
    channel_.reset_sequence();
    auto packet = co_await channel_.read_packet();
    if (!packet.ok()) {
      if (is_worth_telling(packet.error())) {
        write_error(channel_, packet.error());
        co_await channel_.flush();
      }
      co_return;
    }
    bool go_on = co_await serve(*packet);
    Status sent = co_await channel_.flush();
    if (!go_on || !sent.ok()) co_return;
  }
}

}  // namespace commitd::wire

#include "wire/connection.h"

#include <sys/socket.h>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "runtime/idle_spin.h"
#include "sql/instance_control.h"
#include "sql/server_context.h"
#include "wire/auth/password.h"
#include "wire/packets.h"

namespace commitd::wire {

namespace {

// What MariaDB's own servers from 10 on put in front for clients that expect a major of 5.
constexpr const char* kVersionPrefixOfMariaDB = "5.5.5-";
constexpr uint32_t kMaxLoginPacket = 256 * 1024;  // nobody has proved anything yet

observe::Gauge& open_connections() {
  static auto& gauge = observe::gauge("commitd_connections", "Client connections that are open.");
  return gauge;
}

observe::Counter& aborted_connects() {
  static auto& counter =
      observe::counter("commitd_aborted_connects_total", "Connections that ended before they had logged in.");
  return counter;
}

bool is_quit(std::string_view packet) {
  return !packet.empty() && static_cast<Command>(packet.front()) == Command::Quit;
}

// As MySQL's offline_mode, whose manners these are.
Error out_of_lease() {
  return make_error(
      er::kServerOfflineMode,
      "The server is currently in offline mode: too few members of its cluster are heard, so that "
      "another server may be the master");
}

Error offline(std::string_view why) {
  return make_error(er::kServerOfflineMode, "The server is currently in offline mode: {}", why);
}

Error idle_for_too_long() {
  return make_error(er::kClientInteractionTimeout,
                    "The client was disconnected by the server because of inactivity. See wait_timeout and "
                    "interactive_timeout for configuring this behavior.");
}

}  // namespace

bool Connection::is_worth_telling(const Error& error) {
  return error.code != er::kNetReadError && error.code != er::kNetErrorOnWrite &&
         error.code != er::kNetWriteInterrupted;
}

Connection::Connection(ConnectionContext& context, std::unique_ptr<Socket> socket, uint32_t id,
                       Entrance entrance)
    : context_(context),
      socket_(*socket),
      channel_(socket_stream(std::move(socket)), kMaxLoginPacket),
      entrance_(entrance),
      id_(id),
      session_(context.server, id) {
  session_.on_kill([this] { close_socket_when_killed(); });
  session_.ends_when([this] { return socket_.peer_has_ended(); });
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
  socket_.hurry();
}

Task<void> Connection::run() {
  static auto& connections = observe::counter("commitd_connections_total", "Connections accepted.");
  connections.add();
  std::optional<IdleSpin::AtWork> at_work(std::in_place);
  Status logged_in = co_await answer_greeting(login_deadline());
  answer_login(logged_in);
  Status sent;
  if (!channel_.flush_now()) sent = co_await channel_.flush();
  at_work.reset();
  if (logged_in.ok() && sent.ok()) {
    co_await serve_commands();
  } else {
    aborted_connects().add();
  }
  if (tls_) co_await channel_.finish();
  co_await session_.close();
}

void Connection::answer_login(const Status& logged_in) {
  if (logged_in.ok()) {
    apply_limits();
    write_ok();
  } else if (is_worth_telling(logged_in.error())) {
    write_error(channel_, logged_in.error());
  }
}

Task<Status> Connection::answer_greeting(Deadline deadline) {
  std::shared_ptr<const TlsContext> tls = context_.options.tls ? context_.options.tls->current() : nullptr;
  LoginAttempt attempt;
  attempt.salt = random_salt();
  const GreetingForm& greeting = tls ? context_.greeting_with_tls : context_.greeting;
  greeting.append_to(channel_.begin_packet(), id_, attempt.salt);
  channel_.end_packet();
  if (!channel_.flush_now()) COMMITD_CO_RETURN_IF_ERROR(co_await channel_.flush());

  co_await socket_.readable(deadline);
  auto packet = channel_.packet_now();
  if (!packet) packet = co_await channel_.read_packet(deadline);
  if (packet->ok() && is_tls_request(**packet)) {
    if (!tls) co_return make_error(er::kHandshake, "Bad handshake: this server does not offer TLS");
    COMMITD_CO_RETURN_IF_ERROR(co_await start_tls(std::move(tls), deadline));
    packet = co_await channel_.read_packet(deadline);  // all over again: nothing said before counts
  }
  if (!packet->ok()) co_return std::move(*packet).error();
  auto response = decode_handshake_response(**packet);
  if (!response.ok()) co_return std::move(response).error();
  capabilities_ = response->capabilities;
  COMMITD_CO_RETURN_IF_ERROR(check_transport());

  attempt.user = std::move(response->user);
  attempt.plugin = response->plugin.empty() ? std::string(kNativePassword) : std::move(response->plugin);
  attempt.response = std::move(response->auth_response);
  co_return co_await authenticate(attempt, *response, deadline);
}

Task<Status> Connection::start_tls(std::shared_ptr<const TlsContext> context, Deadline deadline) {
  channel_.change_stream([&](std::unique_ptr<Stream> inner, std::string received) {
    auto stream = std::make_unique<TlsStream>(std::move(context), TlsStream::Role::Server, std::move(inner),
                                              std::move(received));
    tls_ = stream.get();
    return stream;
  });
  COMMITD_CO_RETURN_IF_ERROR(co_await tls_->handshake(deadline));
  session_.set_tls(tls_->info());
  co_return Status();
}

Status Connection::check_transport() const {
  if (tls_ || entrance_ == Entrance::UnixSocket || !limits().require_secure_transport.load()) return {};
  return make_error(
      er::kSecureTransportRequired,
      "Connections using insecure transport are prohibited while --require_secure_transport=ON.");
}

// As MySQL, this looks like a wrong password.
Status Connection::check_requirement(const sql::Account& account) const {
  using sql::TlsRequirement;
  if (account.require == TlsRequirement::None) return {};
  if (tls_ && (account.require == TlsRequirement::Tls || tls_->peer_has_certificate())) return {};
  return make_error(er::kAccessDenied, "Access denied for user '{}'@'{}' (using password: YES)", account.user,
                    channel_.peer_address());
}

namespace {

Task<Status> at_once(Status status) {
  co_return status;
}

}  // namespace

Task<Status> Connection::authenticate(LoginAttempt& attempt, const HandshakeResponse& request,
                                      Deadline deadline) {
  attempt.client_host = channel_.peer_address();
  // MariaDB's client sends the password in clear over loopback as well.
  attempt.secure_transport = tls_ || entrance_ == Entrance::UnixSocket;
  auto candidate = context_.authenticator.candidate(attempt);
  auto verdict = Authenticator::authenticate_now(candidate, attempt);
  if (!verdict) return ask_for_more(std::move(candidate), attempt, request, deadline);
  return at_once(verdict->ok() ? admit(candidate.account, request) : *std::move(verdict));
}

Task<Status> Connection::ask_for_more(Authenticator::Candidate candidate, LoginAttempt& attempt,
                                      const HandshakeResponse& request, Deadline deadline) {
  COMMITD_CO_RETURN_IF_ERROR(
      co_await context_.authenticator.authenticate(channel_, candidate, attempt, deadline));
  co_return admit(candidate.account, request);
}

Status Connection::admit(const sql::Account& account, const HandshakeResponse& request) {
  COMMITD_RETURN_IF_ERROR(check_requirement(account));
  is_built_in_.store(account.is_built_in());
  COMMITD_RETURN_IF_ERROR(check_limit());
  if (!lease_holds()) return out_of_lease();
  account_ = account;
  if (const auto why = why_offline(); !why.empty()) return offline(why);
  COMMITD_RETURN_IF_ERROR(take_place_of_user(account));
  session_.set_user(account, channel_.peer_address());
  session_.set_client_collation(request.collation);
  session_.set_multi_statements(can(capability::kMultiStatements));
  session_.set_found_rows(can(capability::kFoundRows));
  if (can(capability::kInteractive)) session_.set_interactive();
  if (is_mariadb_binlog_reader(request)) session_.set_version_prefix(kVersionPrefixOfMariaDB);
  if (!request.database.empty()) COMMITD_RETURN_IF_ERROR(session_.start_in_database(request.database));
  session_.set_tracking(can(capability::kSessionTrack));
  return {};
}

// Only who has logged in can be told from the operator, who must get in when all other places are taken.
Deadline Connection::login_deadline() const {
  return Clock::now() + std::chrono::seconds(limits().connect_timeout.load());
}

Status Connection::check_limit() const {
  if (entrance_ == Entrance::Admin || is_built_in_.load()) return {};
  if (context_.registry.count() <= limits().max_connections.load()) return {};
  return make_error(er::kConCount, "Too many connections");
}

bool Connection::lease_holds() const {
  const sql::InstanceControl* instance = context_.server.instance;
  return instance == nullptr || instance->may_serve_clients() || is_always_served();
}

std::string_view Connection::why_offline() const {
  const auto& ask = context_.options.why_offline_for;
  return ask && !is_always_served() ? ask(account_) : std::string_view();
}

Status Connection::take_place_of_user(const sql::Account& account) {
  const std::string name = account.user + '@' + account.host;
  const uint32_t limit = account.is_built_in() ? 0 : limits().max_user_connections.load();
  if (context_.registry.take_place(*this, name, limit)) return {};
  return make_error(er::kTooManyUserConnections,
                    "User {} already has more than 'max_user_connections' active connections", account.user);
}

std::chrono::seconds Connection::apply_limits() {
  const sql::ConnectionLimits limits = session_.limits();
  channel_.set_max_packet(limits.max_allowed_packet);
  channel_.set_read_timeout(limits.net_read_timeout);
  channel_.set_write_timeout(limits.net_write_timeout);
  return limits.wait_timeout;
}

Task<Result<std::string>> Connection::next_command(Deadline deadline) {
  if (channel_.is_idle()) {
    Status there = co_await channel_.wait_for_packet(deadline);
    if (!there.ok()) {
      if (there.error().code == er::kNetReadInterrupted) co_return idle_for_too_long();
      co_return std::move(there).error();
    }
  }
  co_return co_await channel_.read_packet();
}

// The client may be in the middle of sending. If the socket were closed on it at once, the kernel would throw
// away the error before the client has read it.
Task<void> Connection::end_with(const Error& error) {
  constexpr std::chrono::seconds kPatience{2};
  write_error(channel_, error);
  Status sent = co_await channel_.flush();
  if (!sent.ok()) co_return;
  co_await channel_.finish();
  ::shutdown(socket_.fd(), SHUT_WR);
  co_await channel_.drain(Clock::now() + kPatience);
}

Task<void> Connection::serve_commands() {
  while (!session_.killed()) {
    const auto wait_timeout = apply_limits();
    channel_.reset_sequence();
    auto packet = channel_.packet_now();
    const Deadline deadline = Clock::now() + wait_timeout;
    if (!packet && channel_.is_idle() && !tls_) {
      co_await socket_.readable(deadline);
      packet = channel_.packet_now();
    }
    if (!packet) packet = co_await next_command(deadline);
    if (!packet->ok()) {
      if (is_worth_telling(packet->error())) co_await end_with(packet->error());
      co_return;
    }
    if (is_quit(**packet)) co_return;
    if (const auto why = why_offline(); !why.empty()) co_return co_await end_with(offline(why));
    const bool go_on = co_await serve(**packet);
    // Looked at last: the answer was true while the lease held. What began before the server went offline
    // may be as old as what begins then.
    if (!lease_holds() || !why_offline().empty()) co_return;
    if (!channel_.flush_now()) {
      Status sent = co_await channel_.flush();
      if (!sent.ok()) co_return;
    }
    if (!go_on) co_return;
  }
}

}  // namespace commitd::wire

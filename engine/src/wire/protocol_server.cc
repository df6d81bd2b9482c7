#include "wire/protocol_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "base/error_codes.h"
#include "wire/auth/password.h"
#include "wire/connection.h"
#include "wire/packets.h"
#include "wire/session_threads.h"

namespace commitd::wire {

namespace {

// Connections beyond max_connections that may try to log in, as the operator might be among them; everybody
// else is refused after that.
constexpr uint32_t kReservedPlaces = 16;

Socket::Family family_of(Entrance entrance) {
  return entrance == Entrance::UnixSocket ? Socket::Family::Unix : Socket::Family::Tcp;
}

GreetingForm greeting_of(const ProtocolServerOptions& options, uint32_t more_capabilities) {
  Greeting greeting;
  greeting.server_version = options.server_version;
  greeting.capabilities = server_capabilities() | more_capabilities;
  greeting.plugin = kGreetingMethod;
  return GreetingForm(std::move(greeting));
}

struct Listener {
  UniqueFd fd;
  Entrance entrance;
};

}  // namespace

class ProtocolServer::Impl {
 public:
  Impl(ProtocolServerOptions options, std::span<Reactor* const> reactors, sql::ServerContext& server,
       sql::AccountDirectory& accounts, DumpHandler& dumps)
      : options_(std::move(options)),
        reactors_(reactors.begin(), reactors.end()),
        authenticator_(accounts),
        context_{options_,
                 server,
                 dumps,
                 authenticator_,
                 registry_,
                 greeting_of(options_, 0),
                 greeting_of(options_, capability::kSsl)} {}

  Status listen();
  void stop_accepting();
  void stop_threads() { threads_.stop(); }
  ConnectionRegistry& registry() { return registry_; }

 private:
  Status open(Result<UniqueFd> fd, Entrance entrance);
  Task<void> accept_on(Listener& listener);
  Task<void> serve(UniqueFd fd, Entrance entrance);
  Task<void> refuse(UniqueFd fd, Error why);
  void start_session(UniqueFd fd, Entrance entrance);
  bool is_full(Entrance entrance) const;
  bool has_own_reactor(Entrance entrance) const {
    return entrance == Entrance::Admin && options_.admin_reactor != nullptr;
  }
  Reactor& accepting_reactor(Entrance entrance) {
    return has_own_reactor(entrance) ? *options_.admin_reactor : *reactors_.front();
  }
  Reactor& next_reactor(Entrance entrance) {
    if (has_own_reactor(entrance)) return *options_.admin_reactor;
    return *reactors_[next_reactor_++ % reactors_.size()];
  }

  ProtocolServerOptions options_;
  std::vector<Reactor*> reactors_;
  size_t next_reactor_ = 0;  // only the first reactor's
  std::atomic<uint32_t> last_id_{0};
  ConnectionRegistry registry_;
  Authenticator authenticator_;
  ConnectionContext context_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  SessionThreads threads_;  // ends before all that its sessions use
};

Status ProtocolServer::Impl::listen() {
  if (!options_.private_key_directory.empty()) {
    auto key = RsaKey::load_or_create(options_.private_key_directory);
    if (!key.ok()) return std::move(key).error();
    authenticator_.use_key(std::move(*key));
  }
  if (options_.port != 0)
    COMMITD_RETURN_IF_ERROR(open(listen_tcp(options_.bind_address, options_.port), Entrance::Tcp));
  if (options_.admin_port != 0) {
    COMMITD_RETURN_IF_ERROR(open(listen_tcp(options_.admin_address, options_.admin_port), Entrance::Admin));
  }
  if (!options_.socket_path.empty())
    COMMITD_RETURN_IF_ERROR(open(listen_unix(options_.socket_path), Entrance::UnixSocket));
  for (auto& listener : listeners_) accepting_reactor(listener->entrance).spawn(accept_on(*listener));
  return {};
}

Status ProtocolServer::Impl::open(Result<UniqueFd> fd, Entrance entrance) {
  if (!fd.ok()) return std::move(fd).error();
  auto listener = std::make_unique<Listener>();
  listener->fd = std::move(*fd);
  listener->entrance = entrance;
  listeners_.push_back(std::move(listener));
  return {};
}

// The descriptors stay open until the server object goes, so that their numbers cannot become somebody else's
// meanwhile.
void ProtocolServer::Impl::stop_accepting() {
  for (auto& listener : listeners_) ::shutdown(listener->fd.get(), SHUT_RDWR);
  if (!options_.socket_path.empty() && !listeners_.empty()) ::unlink(options_.socket_path.c_str());
}

Task<void> ProtocolServer::Impl::accept_on(Listener& listener) {
  Acceptor acceptor(listener.fd.get());
  for (;;) {
    UniqueFd fd = co_await acceptor.accept();
    if (!fd.valid()) co_return;
    start_session(std::move(fd), listener.entrance);
  }
}

void ProtocolServer::Impl::start_session(UniqueFd fd, Entrance entrance) {
  if (!options_.thread_per_connection) return next_reactor(entrance).spawn(serve(std::move(fd), entrance));
  auto connection = std::make_shared<UniqueFd>(std::move(fd));
  Status started =
      threads_.start([this, connection, entrance] { return serve(std::move(*connection), entrance); });
  if (!started.ok()) next_reactor(entrance).spawn(refuse(std::move(*connection), std::move(started).error()));
}

Task<void> ProtocolServer::Impl::refuse(UniqueFd fd, Error why) {
  PacketChannel channel(socket_stream(std::make_unique<Socket>(std::move(fd))), kMaxPayload);
  write_error(channel, why);
  (void)co_await channel.flush();
}

bool ProtocolServer::Impl::is_full(Entrance entrance) const {
  return entrance != Entrance::Admin &&
         registry_.count() >= options_.limits->max_connections.load() + kReservedPlaces;
}

Task<void> ProtocolServer::Impl::serve(UniqueFd fd, Entrance entrance) {
  if (is_full(entrance)) {
    Error full = make_error(er::kConCount, "Too many connections");
    co_return co_await refuse(std::move(fd), std::move(full));
  }
  auto socket = std::make_unique<Socket>(std::move(fd), family_of(entrance));
  Connection connection(context_, std::move(socket), ++last_id_, entrance);
  co_await connection.run();
}

ProtocolServer::ProtocolServer(ProtocolServerOptions options, std::span<Reactor* const> reactors,
                               sql::ServerContext& server, sql::AccountDirectory& accounts,
                               DumpHandler& dumps)
    : impl_(std::make_unique<Impl>(std::move(options), reactors, server, accounts, dumps)) {}
ProtocolServer::~ProtocolServer() = default;

Status ProtocolServer::listen() {
  return impl_->listen();
}
void ProtocolServer::stop_accepting() {
  impl_->stop_accepting();
}
void ProtocolServer::stop_threads() {
  impl_->stop_threads();
}
uint32_t ProtocolServer::session_count() const {
  return impl_->registry().count();
}

Task<void> ProtocolServer::close_sessions(Which which, Deadline deadline) {
  return impl_->registry().close(
      which == Which::All ? ConnectionRegistry::Which::All : ConnectionRegistry::Which::Clients, deadline);
}

}  // namespace commitd::wire

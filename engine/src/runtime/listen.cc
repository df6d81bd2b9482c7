#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "base/error_codes.h"
#include "runtime/socket.h"

namespace commitd {

namespace {

constexpr int kBacklog = 1024;

Error cannot_listen(const std::string& where, int error) {
  return make_error(er::kOutOfResources, "Cannot listen on {}: {}. Is another server using it?", where,
                    std::strerror(error));
}

UniqueFd stream_socket(int family) {
  return UniqueFd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Result<UniqueFd> bind_and_listen(UniqueFd fd, const SocketAddress& address, const std::string& where) {
  if (!fd.valid() || ::bind(fd.get(), address.get(), address.size) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return cannot_listen(where, errno);
  }
  return fd;
}

// A socket file that a crashed server left behind refuses connections.
bool is_stale(const SocketAddress& address) {
  UniqueFd probe = stream_socket(AF_UNIX);
  return probe.valid() && ::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED;
}

bool out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Result<UniqueFd> listen_tcp(const std::string& address, uint16_t port) {
  std::string where = fmt::format("{}:{}", address, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const char* node = address.empty() || address == "*" ? nullptr : address.c_str();
  int rc = getaddrinfo(node, std::to_string(port).c_str(), &hints, &found);
  if (rc != 0) return make_error(er::kOutOfResources, "Cannot listen on {}: {}", where, gai_strerror(rc));
  SocketAddress bound;
  std::memcpy(&bound.storage, found->ai_addr, found->ai_addrlen);
  bound.size = found->ai_addrlen;
  freeaddrinfo(found);

  UniqueFd fd = stream_socket(bound.family());
  int on = 1;
  if (fd.valid()) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return bind_and_listen(std::move(fd), bound, where);
}

Result<UniqueFd> listen_unix(const std::string& path) {
  auto address = SocketAddress::unix_path(path);
  if (!address.ok()) return std::move(address).error();
  if (is_stale(*address)) ::unlink(path.c_str());
  auto fd = bind_and_listen(stream_socket(AF_UNIX), *address, path);
  // As with MySQL, whoever can reach the directory may connect; the password decides.
  if (fd.ok()) ::chmod(path.c_str(), 0777);
  return fd;
}

SocketAddress local_address(int fd) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) address.size = 0;
  return address;
}

Task<UniqueFd> Acceptor::accept() {
  for (;;) {
    co_await watch_.readable();
    UniqueFd connection(::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.valid()) co_return connection;
    int error = errno;
    if (error == EAGAIN && !watch_.input_ended()) {
      watch_.drained_input();
    } else if (out_of_descriptors(error)) {
      // Connections wait in the backlog until others end.
      co_await sleep_until(Clock::now() + std::chrono::milliseconds(100));
    } else if (error == EINVAL || watch_.input_ended()) {
      // Shut down: TCP says EINVAL, also before the event has come; a unix socket goes on saying EAGAIN.
      co_return UniqueFd();
    }
  }
}

}  // namespace commitd

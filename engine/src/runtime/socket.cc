#include "runtime/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "observe/wait_events.h"

namespace commitd {

namespace {

constexpr std::chrono::seconds kPatienceInAHurry{1};

Error broken_connection(const char* doing) {
  return make_error(er::kNetReadError, "The connection broke while {}: {}", doing, std::strerror(errno));
}

// Skips what was written; gives the pieces that are left.
std::span<iovec> advance(std::span<iovec> pieces, size_t written) {
  while (!pieces.empty() && written >= pieces.front().iov_len) {
    written -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (written > 0) {
    pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + written;
    pieces.front().iov_len -= written;
  }
  return pieces;
}

bool set_option(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

// No coalescing of small packets, and a vanished peer is noticed within about two minutes. A unix socket has
// neither problem.
void tune_tcp(int fd) {
  if (!set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1)) return;
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

SocketAddress address_of(int fd, int (*ask)(int, sockaddr*, socklen_t*)) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  if (ask(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) address.size = 0;
  return address;
}

Error cannot_connect(const SocketAddress& address, int error) {
  return make_error(er::kClientConnHost, "Can't connect to MySQL server on '{}:{}' ({}: {})", address.host(),
                    address.port(), error, std::strerror(error));
}

template <class Call>
ssize_t counted(observe::IoKind kind, observe::Counter& bytes, Call call) {
  static const observe::IoEvent event("wait/io/socket/sql/client_connection");
  ssize_t moved = 0;
  int error = 0;
  {
    observe::IoTimer timer(event, kind);
    moved = call();
    error = errno;
    if (moved > 0) timer.moved(static_cast<uint64_t>(moved));
  }
  if (moved > 0) bytes.add(static_cast<uint64_t>(moved));
  errno = error;
  return moved;
}

ssize_t receive(int fd, std::span<char> into) {
  static auto& bytes = observe::counter("commitd_network_bytes_received_total",
                                        "Bytes received on connections of the protocol.");
  return counted(observe::IoKind::Read, bytes, [&] { return ::recv(fd, into.data(), into.size(), 0); });
}

template <class Call>
ssize_t send_counted(Call call) {
  static auto& bytes =
      observe::counter("commitd_network_bytes_sent_total", "Bytes sent on connections of the protocol.");
  return counted(observe::IoKind::Write, bytes, call);
}

}  // namespace

Socket::Socket(UniqueFd fd, Family family)
    : fd_(std::move(fd)), family_(family), watch_(fd_.get(), FdWatch::AtEnd::Closes) {
  if (family_ == Family::Tcp) tune_tcp(fd_.get());
}

std::optional<size_t> Socket::read_now(std::span<char> into) {
  if (!watch_.input_ready()) return {};
  const ssize_t got = receive(fd_.get(), into);
  if (got < 0 ? errno == EAGAIN : static_cast<size_t>(got) < into.size()) watch_.drained_input();
  if (got < 0) return {};
  return static_cast<size_t>(got);
}

Task<Result<size_t>> Socket::read(std::span<char> into, Deadline deadline) {
  for (;;) {
    if (co_await watch_.readable(deadline) == Wake::TimedOut) {
      co_return make_error(er::kNetReadInterrupted, "Got timeout reading communication packets");
    }
    const ssize_t got = receive(fd_.get(), into);
    if (got >= 0) {
      if (static_cast<size_t>(got) < into.size()) watch_.drained_input();
      co_return static_cast<size_t>(got);
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return broken_connection("reading");
    watch_.drained_input();
  }
}

Task<Status> Socket::write(std::span<iovec> pieces, Deadline deadline) {
  while (!pieces.empty()) {
    if (!watch_.output_ready()) write_will_wait(deadline);
    const Wake wake = co_await watch_.writable(deadline);
    write_waits_.store(false);
    if (wake == Wake::TimedOut) {
      co_return make_error(er::kNetWriteInterrupted, "Got timeout writing communication packets");
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = std::min<size_t>(pieces.size(), IOV_MAX);
    const ssize_t put = send_counted([&] { return ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL); });
    if (put >= 0) {
      pieces = advance(pieces, static_cast<size_t>(put));
    } else if (errno == EAGAIN) {
      watch_.filled_output();
    } else if (errno != EINTR) {
      co_return broken_connection("writing");
    }
  }
  co_return Status();
}

Task<Status> Socket::write(std::string_view bytes, Deadline deadline) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  co_return co_await write(std::span<iovec>(&piece, 1), deadline);
}

size_t Socket::write_now(std::string_view bytes) {
  if (!watch_.output_ready()) return 0;
  const ssize_t put =
      send_counted([&] { return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  return put > 0 ? static_cast<size_t>(put) : 0;
}

void Socket::write_will_wait(Deadline& deadline) {
  write_waits_.store(true);
  if (hurried_.load()) deadline = std::min(deadline, Clock::now() + kPatienceInAHurry);
}

void Socket::shutdown() {
  ::shutdown(fd_.get(), SHUT_RDWR);
}

void Socket::hurry() {
  hurried_.store(true);
  ::shutdown(fd_.get(), write_waits_.load() ? SHUT_RDWR : SHUT_RD);
}

SocketAddress Socket::peer() const {
  return address_of(fd_.get(), getpeername);
}
std::string Socket::peer_host() const {
  return family_ == Family::Unix ? "localhost" : peer().host();
}
SocketAddress Socket::local() const {
  return address_of(fd_.get(), getsockname);
}

Task<Result<std::unique_ptr<Socket>>> Socket::connect(SocketAddress address, Deadline deadline) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) co_return cannot_connect(address, errno);
  const auto family = address.family() == AF_UNIX ? Family::Unix : Family::Tcp;
  if (::connect(fd.get(), address.get(), address.size) == 0)
    co_return std::make_unique<Socket>(std::move(fd), family);
  if (errno != EINPROGRESS) co_return cannot_connect(address, errno);

  auto socket = std::make_unique<Socket>(std::move(fd), family);
  socket->watch_.filled_output();
  if (co_await socket->watch_.writable(deadline) == Wake::TimedOut)
    co_return cannot_connect(address, ETIMEDOUT);
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(socket->fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) co_return cannot_connect(address, error);
  co_return std::move(socket);
}

Task<Result<std::unique_ptr<Socket>>> Socket::connect(std::string host, uint16_t port, Deadline deadline) {
  auto addresses = co_await resolve(host, port, deadline);
  if (!addresses.ok()) co_return std::move(addresses).error();
  Error last = make_error(er::kClientUnknownHost, "Unknown MySQL server host '{}' (it has no address)", host);
  for (const SocketAddress& address : *addresses) {
    auto socket = co_await connect(address, deadline);
    if (socket.ok()) co_return std::move(socket);
    last = std::move(socket).error();
  }
  co_return last;
}

}  // namespace commitd

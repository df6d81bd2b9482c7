// Stream sockets for coroutines. A socket belongs to the reactor it was made on.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/fd_watch.h"
#include "runtime/reactor.h"
#include "runtime/socket_address.h"
#include "runtime/unique_fd.h"

namespace commitd {

// Errors: 1158 the peer is gone or the connection broke, 1159 the deadline passed while reading, 1161 the
// same while writing.
class Socket {
 public:
  enum class Family { Tcp, Unix };
  explicit Socket(UniqueFd fd, Family family = Family::Tcp);  // connected and non-blocking

  // What is there, at least one byte; 0 at the end of the stream.
  Task<Result<size_t>> read(std::span<char> into, Deadline deadline = kNoDeadline);
  // Until something has come or the deadline has passed: read_now() or read() tells what. No coroutine, and
  // no buffer held meanwhile.
  FdWatch::Awaiter readable(Deadline deadline = kNoDeadline) { return watch_.readable(deadline); }
  // The same without waiting; none: nothing is known to be there, or read() has to say what is wrong.
  std::optional<size_t> read_now(std::span<char> into);
  // All pieces, in as few system calls as the kernel's buffer allows. Changes `pieces` as it goes.
  Task<Status> write(std::span<iovec> pieces, Deadline deadline = kNoDeadline);
  Task<Status> write(std::string_view bytes, Deadline deadline = kNoDeadline);
  // How many of the bytes went without waiting; what is left is write()'s, which also says what is wrong.
  size_t write_now(std::string_view bytes);

  // Any thread, for as long as the socket lives. Waiting reads and writes of this side return.
  void shutdown();
  // Any thread, for as long as the socket lives. No more is read, and a peer that does not take what it is
  // sent is not waited for: a write that waits ends now, a later one soon. What the peer takes still arrives.
  void hurry();
  int fd() const { return fd_.get(); }
  // What its reactor has seen when it last waited. Bytes that came before the end may still be read.
  bool peer_has_ended() const { return watch_.input_ended(); }
  SocketAddress peer() const;
  std::string peer_host() const;  // as SocketAddress::host()
  SocketAddress local() const;

  static Task<Result<std::unique_ptr<Socket>>> connect(SocketAddress address,
                                                       Deadline deadline = kNoDeadline);
  // Resolves the name and tries its addresses one after the other.
  static Task<Result<std::unique_ptr<Socket>>> connect(std::string host, uint16_t port,
                                                       Deadline deadline = kNoDeadline);

 private:
  void write_will_wait(Deadline& deadline);

  UniqueFd fd_;  // closed right behind the watch
  Family family_;
  FdWatch watch_;
  // Of a hurry() and a write that begins to wait, one always sees the other.
  std::atomic<bool> hurried_{false}, write_waits_{false};
};

// Listening descriptors; made on any thread.
Result<UniqueFd> listen_tcp(const std::string& address, uint16_t port);
Result<UniqueFd> listen_unix(
    const std::string& path);  // replaces a socket file that nobody listens on any more
SocketAddress local_address(int fd);

class Acceptor {
 public:
  explicit Acceptor(int listening_fd) : fd_(listening_fd), watch_(listening_fd) {}
  // The next connection, ready for Socket; invalid once the listening descriptor was shut down.
  Task<UniqueFd> accept();

 private:
  int fd_;
  FdWatch watch_;
};

}  // namespace commitd

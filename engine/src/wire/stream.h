// The bytes under a packet channel: a socket, or TLS (tls/) around one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/reactor.h"
#include "runtime/socket.h"
#include "runtime/task.h"

namespace commitd::wire {

class Stream {
 public:
  virtual ~Stream() = default;
  // What is there, at least one byte; 0 at the end. No other coroutine runs between the last byte's arrival
  // and the return.
  virtual Task<Result<size_t>> read(std::span<char> into, Deadline deadline) = 0;
  virtual Task<Status> write(std::string_view bytes, Deadline deadline) = 0;
  // What goes without waiting, to spare the coroutine: none, or fewer bytes, leave the rest to those above.
  virtual std::optional<size_t> read_now(std::span<char>) { return {}; }
  virtual size_t write_now(std::string_view) { return 0; }
  // Nothing more will be written: says so to the peer where the stream has a way to.
  virtual Task<void> finish(Deadline) { co_return; }
  virtual void shutdown() = 0;
  virtual std::string peer_address() const = 0;
};

std::unique_ptr<Stream> socket_stream(std::unique_ptr<Socket> socket);

}  // namespace commitd::wire

// A packet channel over one connection (TCP, unix socket, TLS later): MySQL packets in and out, sequence
// numbers, splitting at 16 MiB.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/reactor.h"
#include "runtime/task.h"

namespace commitd::wire {

class Channel {
 public:
  virtual ~Channel() = default;

  // The next packet's payload (joined when split). Error 1153 beyond max_allowed_packet, 1159 at the
  // deadline, 1158 when the peer is gone.
  virtual Task<Result<std::string>> read_packet(Deadline deadline = kNoDeadline) = 0;
  // Adds a packet to the output buffer.
  virtual void write_packet(std::string_view payload) = 0;
  // The same for a payload in two pieces (dump: a short head, then an event).
  virtual void write_packet(std::string_view head, std::string_view body) = 0;
  // Whole packets as somebody has made them: each is numbered anew in its header, of which `headers` has the
  // places.
  virtual void write_packets(std::string_view packets, std::span<const uint32_t> headers) = 0;
  virtual size_t buffered() const = 0;
  virtual Task<Status> flush() = 0;
  virtual void reset_sequence() = 0;  // before each command
  virtual void set_sequence(uint8_t next_outgoing) = 0;
  // Reading and writing may go on in two coroutines of the same reactor at once (dump and acknowledgements).
  // From now on both ends send unasked (dump and acknowledgements): packets received are no longer numbered
  // together with those sent.
  virtual void set_duplex() {}
  virtual void shutdown() = 0;  // both ends see the end of the stream; pending reads and writes return
  virtual std::string peer_address() const = 0;
};

}  // namespace commitd::wire

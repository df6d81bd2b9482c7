// The Channel of a stream, with what the server's own writers need beyond it: packets written in place.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "wire/channel.h"
#include "wire/stream.h"

namespace commitd::wire {

class PacketChannel final : public Channel {
 public:
  PacketChannel(std::unique_ptr<Stream> stream, uint32_t max_packet);

  Task<Result<std::string>> read_packet(Deadline deadline = kNoDeadline) override;
  void write_packet(std::string_view payload) override;
  void write_packet(std::string_view head, std::string_view body) override;
  size_t buffered() const override { return output_.size(); }
  Task<Status> flush() override;
  void reset_sequence() override { sequence_ = 0; }
  void set_sequence(uint8_t next_outgoing) override { sequence_ = next_outgoing; }
  void set_duplex() override { duplex_ = true; }
  void shutdown() override { stream_->shutdown(); }
  std::string peer_address() const override { return stream_->peer_address(); }

  // A packet whose payload the caller appends to the returned buffer, up to end_packet().
  std::string& begin_packet();
  void end_packet();

  // Any thread: whether a flush waits for the peer right now.
  bool sending() const { return sending_.load(); }
  void set_max_packet(uint32_t bytes) { max_packet_ = bytes; }
  void set_write_timeout(std::chrono::milliseconds timeout) { write_timeout_ = timeout; }

 private:
  struct Header {
    uint32_t size;
    uint8_t sequence;
  };

  Task<Status> need(size_t bytes, Deadline deadline);
  Task<Result<Header>> read_header(Deadline deadline);
  Task<Status> read_payload(size_t size, std::string& into, Deadline deadline);
  void append_header(size_t size);
  void split_last_packet();

  std::unique_ptr<Stream> stream_;
  uint32_t max_packet_;
  std::chrono::milliseconds write_timeout_{60'000};  // MySQL's net_write_timeout
  uint8_t sequence_ = 0;
  bool duplex_ = false;
  std::string input_;  // received, not yet taken; empty while the session is idle
  std::string output_;
  size_t packet_start_ = 0;
  std::atomic<bool> sending_{false};
};

}  // namespace commitd::wire

// The Channel of a stream, with what the server's own writers need beyond it: packets written in place.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "wire/channel.h"
#include "wire/stream.h"

namespace commitd::wire {

class PacketChannel final : public Channel {
 public:
  PacketChannel(std::unique_ptr<Stream> stream, uint32_t max_packet);

  Task<Result<std::string>> read_packet(Deadline deadline = kNoDeadline) override;
  bool is_idle() const { return input_.empty(); }  // nothing of the next packet has come
  // The next packet if it has come as a whole: the same as read_packet(), without a coroutine.
  std::optional<Result<std::string>> packet_now();
  // Until something of the next packet has come. The read timeout is for what follows its first byte.
  Task<Status> wait_for_packet(Deadline deadline);
  void write_packet(std::string_view payload) override;
  void write_packet(std::string_view head, std::string_view body) override;
  void write_packets(std::string_view packets, std::span<const uint32_t> headers) override;
  size_t buffered() const override { return output_.size(); }
  Task<Status> flush() override;
  // Sends without waiting; false: what is left, or what is wrong, is flush()'s.
  bool flush_now();
  void reset_sequence() override { sequence_ = 0; }
  void set_sequence(uint8_t next_outgoing) override { sequence_ = next_outgoing; }
  void set_duplex() override { duplex_ = true; }
  void shutdown() override { stream_->shutdown(); }
  std::string peer_address() const override { return stream_->peer_address(); }

  // From now on through another stream, made around the one so far. What came through that one and was not
  // taken as a packet yet goes to `wrap`.
  using Wrap = std::function<std::unique_ptr<Stream>(std::unique_ptr<Stream> inner, std::string received)>;
  void change_stream(const Wrap& wrap);
  Task<void> finish();
  // Receives and drops what still comes, within bounds.
  Task<void> drain(Deadline deadline);

  // A packet whose payload the caller appends to the returned buffer, up to end_packet().
  std::string& begin_packet();
  void end_packet();

  // Packets as they were written, to be written once more where the sequence numbers are the same.
  struct Written {
    std::string_view packets;
    uint8_t next_sequence = 0;
  };
  Written written_since(size_t buffered_then) const {
    return {std::string_view(output_).substr(buffered_then), sequence_};
  }
  void write_again(const Written& written) {
    output_.append(written.packets);
    sequence_ = written.next_sequence;
  }
  uint8_t sequence() const { return sequence_; }

  void set_max_packet(uint32_t bytes) { max_packet_ = bytes; }
  void set_read_timeout(std::chrono::milliseconds timeout) { read_timeout_ = timeout; }
  void set_write_timeout(std::chrono::milliseconds timeout) { write_timeout_ = timeout; }

 private:
  Deadline next_step(Deadline deadline) const;
  uint32_t next_size() const;  // of the payload whose header has come
  bool has_packet() const;
  Result<std::string> take_packet();
  void receive_now();
  Status take_header(size_t payload_before);
  void take_payload(std::string& into, size_t size);
  Task<Status> need(size_t bytes, Deadline deadline);
  Task<Status> read_rest(size_t left, std::string& into, Deadline deadline);
  void drop_large_input();
  void append_header(size_t size);
  void split_last_packet();

  std::unique_ptr<Stream> stream_;
  uint32_t max_packet_;
  // Of a step of a packet, however many it takes: MySQL's net_read_timeout and net_write_timeout.
  std::chrono::milliseconds read_timeout_{30'000}, write_timeout_{60'000};
  uint8_t sequence_ = 0;
  bool duplex_ = false;
  std::string input_;  // received, not yet taken; empty while the session is idle
  std::string output_;
  size_t packet_start_ = 0;
  MemoryReservation memory_{MemoryUse::Network};  // of the packet that is read, then of what is sent
};

}  // namespace commitd::wire

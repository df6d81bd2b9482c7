#include "wire/packet_channel.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {

constexpr size_t kHeaderSize = 4;
constexpr size_t kScratchSize = 64 * 1024;
// A long payload gets as much memory again as has come of it, within these: a header alone claims nothing.
constexpr size_t kSmallestStep = 64 * 1024, kLargestStep = 1 << 20;
constexpr size_t kLargestWrite = 256 * 1024;  // what one write time-out is for
constexpr std::chrono::milliseconds kPatienceAtEnd{1000};
constexpr size_t kLargestDrain = 64 << 20;
constexpr size_t kKeptOutput = 1024;  // what an idle connection may keep of its output buffer

// Where this thread's channels receive: idle sessions hold no buffer of their own.
std::span<char> scratch() {
  static thread_local std::unique_ptr<char[]> buffer(new char[kScratchSize]);
  return {buffer.get(), kScratchSize};
}

Error peer_gone() {
  return make_error(er::kNetReadError,
                    "Got an error reading communication packets: the peer closed the connection");
}

Error out_of_memory() {
  return make_error(
      er::kOutOfResources,
      "Out of memory; check if mysqld or some other process uses all available memory; if not, "
      "you may have to use 'ulimit' to allow mysqld to use more memory or you can add more swap "
      "space");
}

}  // namespace

PacketChannel::PacketChannel(std::unique_ptr<Stream> stream, uint32_t max_packet)
    : stream_(std::move(stream)), max_packet_(max_packet) {}

void PacketChannel::change_stream(const Wrap& wrap) {
  stream_ = wrap(std::move(stream_), std::exchange(input_, {}));
}

Task<void> PacketChannel::finish() {
  co_await stream_->finish(Clock::now() + std::min(write_timeout_, kPatienceAtEnd));
}

Task<void> PacketChannel::drain(Deadline deadline) {
  for (size_t left = kLargestDrain; left > 0;) {
    std::span<char> buffer = scratch();
    auto got = co_await stream_->read(buffer, deadline);
    if (!got.ok() || *got == 0 || *got > left) co_return;
    left -= *got;
  }
}

Task<Status> PacketChannel::wait_for_packet(Deadline deadline) {
  memory_.clear();
  return need(1, deadline);
}

// Somebody who has begun a packet must go on with it.
Deadline PacketChannel::next_step(Deadline deadline) const {
  return std::min(deadline, Clock::now() + read_timeout_);
}

// Makes at least `bytes` available in input_.
Task<Status> PacketChannel::need(size_t bytes, Deadline deadline) {
  while (input_.size() < bytes) {
    std::span<char> buffer = scratch();
    auto got = co_await stream_->read(buffer, input_.empty() ? deadline : next_step(deadline));
    if (!got.ok()) co_return std::move(got).error();
    if (*got == 0) co_return peer_gone();
    input_.append(buffer.data(), *got);
  }
  co_return Status();
}

Task<Result<PacketChannel::Header>> PacketChannel::read_header(Deadline deadline) {
  Status there = co_await need(kHeaderSize, deadline);
  if (!there.ok()) co_return std::move(there).error();
  co_return Header{load_le24(input_.data()), static_cast<uint8_t>(input_[3])};
}

// Moves `size` bytes behind the header from the input to `into`; long payloads are received where they
// belong.
Task<Status> PacketChannel::read_payload(size_t size, std::string& into, Deadline deadline) {
  size_t buffered = std::min(size, input_.size() - kHeaderSize);
  into.append(input_, kHeaderSize, buffered);
  input_.erase(0, kHeaderSize + buffered);
  size_t left = size - buffered;
  while (left > 0) {
    size_t start = into.size();
    const size_t step = std::min(left, std::clamp(start, kSmallestStep, kLargestStep));
    if (!memory_.cover(start + step)) co_return out_of_memory();
    into.resize(start + step);
    auto got = co_await stream_->read(std::span(into).subspan(start), next_step(deadline));
    if (!got.ok()) co_return std::move(got).error();
    if (*got == 0) co_return peer_gone();
    into.resize(start + *got);
    left -= *got;
  }
  co_return Status();
}

Task<Result<std::string>> PacketChannel::read_packet(Deadline deadline) {
  std::string payload;
  for (;;) {
    auto header = co_await read_header(deadline);
    if (!header.ok()) co_return std::move(header).error();
    if (!duplex_ && header->sequence != sequence_++) {
      co_return make_error(er::kNetPacketsOutOfOrder, "Got packets out of order");
    }
    if (payload.size() + header->size > max_packet_) {
      co_return make_error(er::kNetPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes");
    }
    Status received = co_await read_payload(header->size, payload, deadline);
    if (!received.ok()) co_return std::move(received).error();
    if (header->size < kMaxPayload) break;
  }
  if (input_.empty() && input_.capacity() > kKeptOutput) input_ = std::string();
  co_return std::move(payload);
}

void PacketChannel::append_header(size_t size) {
  char header[kHeaderSize];
  store_le24(header, static_cast<uint32_t>(size));
  header[3] = static_cast<char>(sequence_++);
  output_.append(header, sizeof(header));
}

void PacketChannel::write_packet(std::string_view payload) {
  write_packet(payload, {});
}

void PacketChannel::write_packet(std::string_view head, std::string_view body) {
  size_t left = head.size() + body.size();
  // A payload whose length is a multiple of the limit ends with an empty packet.
  for (bool more = true; more;) {
    size_t size = std::min<size_t>(left, kMaxPayload);
    append_header(size);
    size_t of_head = std::min(size, head.size());
    output_.append(head.substr(0, of_head));
    output_.append(body.substr(0, size - of_head));
    head.remove_prefix(of_head);
    body.remove_prefix(size - of_head);
    left -= size;
    more = size == kMaxPayload;
  }
}

std::string& PacketChannel::begin_packet() {
  packet_start_ = output_.size();
  append_header(0);
  return output_;
}

void PacketChannel::end_packet() {
  size_t size = output_.size() - packet_start_ - kHeaderSize;
  if (size >= kMaxPayload) return split_last_packet();
  store_le24(output_.data() + packet_start_, static_cast<uint32_t>(size));
}

void PacketChannel::split_last_packet() {
  std::string payload = output_.substr(packet_start_ + kHeaderSize);
  output_.resize(packet_start_);
  --sequence_;
  write_packet(payload);
}

Task<Status> PacketChannel::flush() {
  if (output_.empty()) co_return Status();
  if (!memory_.cover(output_.size())) {
    output_ = std::string();
    co_return out_of_memory();
  }
  // Another coroutine may add packets while these are on their way.
  std::string sending = std::exchange(output_, {});
  Status sent;
  for (std::string_view rest = sending; sent.ok() && !rest.empty();) {
    std::string_view piece = rest.substr(0, kLargestWrite);
    rest.remove_prefix(piece.size());
    sent = co_await stream_->write(piece, Clock::now() + write_timeout_);
  }
  if (sent.ok() && output_.empty() && sending.capacity() <= kKeptOutput) {
    sending.clear();
    output_ = std::move(sending);
  }
  co_return sent;
}

}  // namespace commitd::wire

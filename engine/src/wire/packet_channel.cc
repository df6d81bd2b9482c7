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
constexpr size_t kFirstOutput = 240;  // a greeting, an answer of one small row
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
    : stream_(std::move(stream)), max_packet_(max_packet) {
  output_.reserve(kFirstOutput);
}

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

void PacketChannel::receive_now() {
  memory_.clear();
  if (!input_.empty()) return;
  std::span<char> buffer = scratch();
  // The end of the stream is told again, to who waits.
  if (const auto got = stream_->read_now(buffer)) input_.assign(buffer.data(), *got);
}

uint32_t PacketChannel::next_size() const {
  return load_le24(input_.data());
}

bool PacketChannel::has_packet() const {
  return input_.size() >= kHeaderSize && next_size() < kMaxPayload &&
         input_.size() - kHeaderSize >= next_size();
}

// `payload_before`: what has come of the same payload, when it was split.
Status PacketChannel::take_header(size_t payload_before) {
  const uint32_t size = next_size();
  const auto sequence = static_cast<uint8_t>(input_[3]);
  if (!duplex_ && sequence != sequence_++) {
    return make_error(er::kNetPacketsOutOfOrder, "Got packets out of order");
  }
  if (payload_before + size > max_packet_) {
    return make_error(er::kNetPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes");
  }
  return {};
}

// `size` bytes behind the header, which goes as well.
void PacketChannel::take_payload(std::string& into, size_t size) {
  into.append(input_, kHeaderSize, size);
  if (input_.size() == kHeaderSize + size) {
    input_.clear();
  } else {
    input_.erase(0, kHeaderSize + size);
  }
}

void PacketChannel::drop_large_input() {
  if (input_.empty() && input_.capacity() > kKeptOutput) input_ = std::string();
}

Result<std::string> PacketChannel::take_packet() {
  const uint32_t size = next_size();
  COMMITD_RETURN_IF_ERROR(take_header(0));
  std::string payload;
  take_payload(payload, size);
  drop_large_input();
  return payload;
}

std::optional<Result<std::string>> PacketChannel::packet_now() {
  receive_now();
  if (!has_packet()) return std::nullopt;
  return take_packet();
}

// What is left of a long payload is received where it belongs.
Task<Status> PacketChannel::read_rest(size_t left, std::string& into, Deadline deadline) {
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
  for (uint32_t size = kMaxPayload; size == kMaxPayload;) {
    if (input_.size() < kHeaderSize) COMMITD_CO_RETURN_IF_ERROR(co_await need(kHeaderSize, deadline));
    size = next_size();
    COMMITD_CO_RETURN_IF_ERROR(take_header(payload.size()));
    const size_t buffered = std::min<size_t>(size, input_.size() - kHeaderSize);
    take_payload(payload, buffered);
    if (buffered < size) COMMITD_CO_RETURN_IF_ERROR(co_await read_rest(size - buffered, payload, deadline));
  }
  drop_large_input();
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

void PacketChannel::write_packets(std::string_view packets, std::span<const uint32_t> headers) {
  const size_t base = output_.size() + kHeaderSize - 1;
  output_.append(packets);
  for (const uint32_t header : headers) output_[base + header] = static_cast<char>(sequence_++);
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

bool PacketChannel::flush_now() {
  if (output_.empty()) return true;
  const size_t sent = stream_->write_now(output_);
  if (sent == 0) return false;
  if (sent < output_.size()) {
    output_.erase(0, sent);
    return false;
  }
  output_.clear();
  if (output_.capacity() > kKeptOutput) output_ = std::string();
  return true;
}

Task<Status> PacketChannel::flush() {
  if (flush_now()) co_return Status();
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

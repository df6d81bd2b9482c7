#include "wire/client.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/client_login.h"
#include "wire/packet_channel.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {

constexpr uint32_t kLargestAnswer = 1u << 30;  // MySQL's own limit for packets

Error malformed() {
  return make_error(er::kClientMalformedPacket, "Malformed packet from the source");
}

bool is_error(std::string_view packet) {
  return !packet.empty() && static_cast<uint8_t>(packet.front()) == kErrorHeader;
}

bool is_eof(std::string_view packet) {
  return !packet.empty() && packet.size() < 9 && static_cast<uint8_t>(packet.front()) == kEofHeader;
}

Result<Client::TextRow> decode_row(std::string_view packet, size_t columns) {
  ByteReader in(packet);
  Client::TextRow row;
  row.reserve(columns);
  for (size_t i = 0; i < columns; ++i) {
    if (in.at_null()) {
      in.skip(1);
      row.push_back(std::nullopt);
    } else {
      row.emplace_back(in.lenenc_string());
    }
  }
  if (!in.ok()) return malformed();
  return row;
}

// Reads packets up to and including an EOF; gives those before it.
Task<Result<std::vector<std::string>>> read_until_eof(Channel& channel, Deadline deadline) {
  std::vector<std::string> packets;
  for (;;) {
    auto packet = co_await channel.read_packet(deadline);
    if (!packet.ok()) co_return std::move(packet).error();
    if (is_error(*packet)) co_return decode_error_packet(*packet);
    if (is_eof(*packet)) co_return std::move(packets);
    packets.push_back(std::move(*packet));
  }
}

}  // namespace

Error decode_error_packet(std::string_view packet) {
  ByteReader in(packet);
  in.skip(1);
  uint16_t code = in.le16();
  if (in.rest().starts_with('#')) in.skip(6);
  return Error{code, std::string(in.rest())};
}

Client::Client(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}

Task<Result<std::unique_ptr<Client>>> Client::connect(ClientOptions options) {
  auto socket = co_await Socket::connect(options.host, options.port, options.deadline);
  if (!socket.ok()) co_return std::move(socket).error();
  std::unique_ptr<Stream> stream = socket_stream(std::move(*socket));
  co_return co_await over(std::move(stream), std::move(options));
}

Task<Result<std::unique_ptr<Client>>> Client::over(std::unique_ptr<Stream> stream, ClientOptions options) {
  auto channel = std::make_unique<PacketChannel>(std::move(stream), kLargestAnswer);
  Status logged_in = co_await log_in(*channel, options);
  if (!logged_in.ok()) co_return std::move(logged_in).error();
  co_return std::unique_ptr<Client>(new Client(std::move(channel)));
}

Task<Status> Client::send_command(uint8_t command, std::string_view payload) {
  channel_->reset_sequence();
  char head = static_cast<char>(command);
  channel_->write_packet({&head, 1}, payload);
  COMMITD_CO_RETURN_IF_ERROR(co_await channel_->flush());
  auto sent = static_cast<Command>(command);
  if (sent == Command::BinlogDump || sent == Command::BinlogDumpGtid) channel_->set_duplex();
  co_return Status();
}

Task<Result<std::vector<Client::TextRow>>> Client::query(std::string_view sql, Deadline deadline) {
  COMMITD_CO_RETURN_IF_ERROR(co_await send_command(static_cast<uint8_t>(Command::Query), sql));
  auto first = co_await channel_->read_packet(deadline);
  if (!first.ok()) co_return std::move(first).error();
  if (is_error(*first)) co_return decode_error_packet(*first);
  std::vector<TextRow> rows;
  if (!first->empty() && static_cast<uint8_t>(first->front()) == kOkHeader) co_return std::move(rows);

  ByteReader in(*first);
  size_t columns = in.lenenc();
  if (!in.ok()) co_return malformed();
  auto definitions = co_await read_until_eof(*channel_, deadline);
  if (!definitions.ok()) co_return std::move(definitions).error();
  if (definitions->size() != columns) co_return malformed();
  auto packets = co_await read_until_eof(*channel_, deadline);
  if (!packets.ok()) co_return std::move(packets).error();
  for (const std::string& packet : *packets) {
    auto row = decode_row(packet, columns);
    if (!row.ok()) co_return std::move(row).error();
    rows.push_back(std::move(*row));
  }
  co_return std::move(rows);
}

}  // namespace commitd::wire

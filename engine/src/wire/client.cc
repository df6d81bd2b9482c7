#include "wire/client.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/client_login.h"
#include "wire/packet_channel.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {

constexpr uint32_t kLargestAnswer = 1u << 30;  // MySQL's own limit for packets
constexpr uint64_t kMostColumns = 65535;

Error malformed() {
  return make_error(er::kClientMalformedPacket, "Malformed packet from the source");
}

bool is_error(std::string_view packet) {
  return !packet.empty() && static_cast<uint8_t>(packet.front()) == kErrorHeader;
}

bool is_eof(std::string_view packet) {
  return !packet.empty() && packet.size() < 9 && static_cast<uint8_t>(packet.front()) == kEofHeader;
}

Status decode_row(std::string_view packet, std::span<Client::TextField> fields) {
  ByteReader in(packet);
  for (Client::TextField& field : fields) {
    if (in.at_null()) {
      in.skip(1);
      field.reset();
    } else {
      field = in.lenenc_string();
    }
  }
  if (!in.ok()) return malformed();
  return {};
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
  std::vector<TextRow> rows;
  const TakeRow keep = [&rows](std::span<const TextField> fields) -> Status {
    rows.emplace_back(fields.begin(), fields.end());
    return {};
  };
  const std::function<Deadline()> until = [deadline] { return deadline; };
  COMMITD_CO_RETURN_IF_ERROR(co_await query(sql, until, keep));
  co_return std::move(rows);
}

Task<Status> Client::query(std::string_view sql, const std::function<Deadline()>& deadline,
                           const TakeRow& take) {
  answered_ = false;
  COMMITD_CO_RETURN_IF_ERROR(co_await send_command(static_cast<uint8_t>(Command::Query), sql));
  co_return co_await read_answer(deadline, take);
}

Task<Status> Client::read_answer(const std::function<Deadline()>& deadline, const TakeRow& take) {
  std::vector<TextField> fields;
  // In turn: the number of columns, their definitions up to an EOF, the rows up to another.
  enum class Part { Head, Definitions, Rows } part = Part::Head;
  for (size_t definitions = 0;;) {
    auto packet = co_await channel_->read_packet(deadline());
    if (!packet.ok()) co_return std::move(packet).error();
    if (is_error(*packet)) {
      answered_ = true;
      co_return decode_error_packet(*packet);
    }
    if (part == Part::Head) {
      answered_ = !packet->empty() && static_cast<uint8_t>(packet->front()) == kOkHeader;
      if (answered_) co_return Status();
      ByteReader in(*packet);
      const uint64_t columns = in.lenenc();
      if (!in.ok() || columns > kMostColumns) co_return malformed();
      fields.resize(columns);
      part = Part::Definitions;
    } else if (part == Part::Definitions) {
      if (!is_eof(*packet)) {
        ++definitions;
        continue;
      }
      if (definitions != fields.size()) co_return malformed();
      part = Part::Rows;
    } else if (is_eof(*packet)) {
      answered_ = true;
      co_return Status();
    } else {
      COMMITD_CO_RETURN_IF_ERROR(decode_row(*packet, fields));
      COMMITD_CO_RETURN_IF_ERROR(take(fields));
    }
  }
}

}  // namespace commitd::wire

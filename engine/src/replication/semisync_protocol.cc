#include "replication/semisync_protocol.h"

#include "base/bytes.h"
#include "base/error_codes.h"

namespace commitd::replication {

std::string_view packet_head(bool semisync, bool wants_acknowledgement) {
  using namespace std::string_view_literals;
  if (!semisync) return "\0"sv;
  return wants_acknowledgement ? "\0\xef\x01"sv : "\0\xef\0"sv;
}

std::string encode_acknowledgement(const Acknowledgement& acknowledgement) {
  std::string packet;
  ByteWriter writer(packet);
  writer.u8(static_cast<uint8_t>(kSemisyncMagic));
  writer.le64(acknowledgement.position);
  writer.bytes(acknowledgement.file);
  return packet;
}

Result<Acknowledgement> parse_acknowledgement(std::string_view packet) {
  ByteReader reader(packet);
  const uint8_t magic = reader.u8();
  Acknowledgement parsed;
  parsed.position = reader.le64();
  parsed.file = std::string(reader.take_rest());
  // Some clients send the name with its terminating zero.
  if (!parsed.file.empty() && parsed.file.back() == '\0') parsed.file.pop_back();
  if (!reader.ok() || magic != static_cast<uint8_t>(kSemisyncMagic) || parsed.file.empty()) {
    return make_error(er::kUnknownCom, "Expected a semisync acknowledgement, got a packet of {} bytes",
                      packet.size());
  }
  return parsed;
}

}  // namespace commitd::replication

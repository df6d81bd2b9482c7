#include "wire/handshake.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/auth/password.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {

constexpr uint8_t kProtocolVersion = 10;
constexpr size_t kSaltInFirstPart = 8;
constexpr size_t kTlsRequestSize = 32;
constexpr uint32_t kLargestPacket = 1u << 30;
constexpr uint8_t kUtf8mb4GeneralCi = 45;

Error bad_handshake() {
  return make_error(er::kHandshake, "Bad handshake");
}

std::string_view auth_response(ByteReader& in, uint32_t capabilities) {
  if (capabilities & capability::kPluginAuthLenenc) return in.lenenc_string();
  if (capabilities & capability::kSecureConnection) return in.bytes(in.u8());
  return in.nul_string();
}

// Strings at the end of these packets come with their zero, or end with the packet.
std::string_view last_string(ByteReader& in) {
  if (in.rest().find('\0') != std::string_view::npos) return in.nul_string();
  return in.take_rest();
}

}  // namespace

std::string_view HandshakeResponse::attribute(std::string_view name) const {
  for (ByteReader pairs(attributes); !pairs.at_end();) {
    const std::string_view found = pairs.lenenc_string(), value = pairs.lenenc_string();
    if (!pairs.ok()) break;
    if (found == name) return value;
  }
  return {};
}

bool is_mariadb_binlog_reader(const HandshakeResponse& response) {
  const std::string_view program = response.attribute("program_name");
  return (program == "mysqlbinlog" || program == "mariadb-binlog") &&
         response.attribute("_client_name") == "libmariadb";
}

uint32_t server_capabilities() {
  using namespace capability;
  return kLongPassword | kFoundRows | kLongFlag | kConnectWithDb | kLocalFiles | kProtocol41 | kInteractive |
         kTransactions | kSecureConnection | kMultiStatements | kMultiResults | kPsMultiResults |
         kPluginAuth | kConnectAttrs | kPluginAuthLenenc | kSessionTrack | kDeprecateEof;
}

bool is_tls_request(std::string_view packet) {
  ByteReader in(packet);
  return packet.size() == kTlsRequestSize && (in.le32() & capability::kSsl) != 0;
}

std::string encode_tls_request(uint32_t capabilities) {
  std::string packet;
  ByteWriter out(packet);
  out.le32(capabilities | capability::kSsl);
  out.le32(kLargestPacket);
  out.u8(kUtf8mb4GeneralCi);
  out.zeros(23);
  return packet;
}

std::string encode(const Greeting& greeting) {
  std::string packet;
  ByteWriter out(packet);
  out.u8(kProtocolVersion);
  out.nul_string(greeting.server_version);
  out.le32(greeting.connection_id);
  out.bytes(std::string_view(greeting.salt).substr(0, kSaltInFirstPart));
  out.u8(0);
  out.le16(static_cast<uint16_t>(greeting.capabilities));
  out.u8(greeting.collation);
  out.le16(greeting.status);
  out.le16(static_cast<uint16_t>(greeting.capabilities >> 16));
  out.u8(kSaltSize + 1);
  out.zeros(10);
  out.nul_string(std::string_view(greeting.salt).substr(kSaltInFirstPart));
  out.nul_string(greeting.plugin);
  return packet;
}

GreetingForm::GreetingForm(Greeting greeting) : id_at_(1 + greeting.server_version.size() + 1) {
  greeting.salt.assign(kSaltSize, '\0');
  packet_ = encode(greeting);
}

void GreetingForm::append_to(std::string& packet, uint32_t connection_id, std::string_view salt) const {
  constexpr size_t kFirstPart = 4;  // behind the number
  constexpr size_t kSecondPart = kFirstPart + kSaltInFirstPart + 1 + 2 + 1 + 2 + 2 + 1 + 10;
  const size_t start = packet.size();
  packet += packet_;
  char* id = packet.data() + start + id_at_;
  store_le32(id, connection_id);
  salt.copy(id + kFirstPart, kSaltInFirstPart);
  salt.copy(id + kSecondPart, kSaltSize - kSaltInFirstPart, kSaltInFirstPart);
}

Result<Greeting> decode_greeting(std::string_view packet) {
  ByteReader in(packet);
  Greeting greeting;
  if (in.u8() != kProtocolVersion) return bad_handshake();
  greeting.server_version = in.nul_string();
  greeting.connection_id = in.le32();
  greeting.salt = in.bytes(kSaltInFirstPart);
  in.skip(1);
  greeting.capabilities = in.le16();
  greeting.collation = in.u8();
  greeting.status = in.le16();
  greeting.capabilities |= static_cast<uint32_t>(in.le16()) << 16;
  in.skip(1 + 10);
  greeting.salt += in.bytes(kSaltSize - kSaltInFirstPart);
  in.skip(1);
  greeting.plugin = last_string(in);
  if (!in.ok() || !(greeting.capabilities & capability::kPluginAuth)) return bad_handshake();
  return greeting;
}

std::string encode(const HandshakeResponse& response) {
  std::string packet;
  ByteWriter out(packet);
  out.le32(response.capabilities);
  out.le32(response.max_packet);
  out.u8(response.collation);
  out.zeros(23);
  out.nul_string(response.user);
  out.lenenc_string(response.auth_response);
  if (response.capabilities & capability::kConnectWithDb) out.nul_string(response.database);
  out.nul_string(response.plugin);
  return packet;
}

Result<HandshakeResponse> decode_handshake_response(std::string_view packet) {
  ByteReader in(packet);
  HandshakeResponse response;
  response.capabilities = in.le32();
  response.max_packet = in.le32();
  response.collation = in.u8();
  in.skip(23);
  if (!in.ok() || !(response.capabilities & capability::kProtocol41)) return bad_handshake();
  response.capabilities &= server_capabilities();
  response.user = in.nul_string();
  response.auth_response = auth_response(in, response.capabilities);
  if ((response.capabilities & capability::kConnectWithDb) && !in.at_end())
    response.database = last_string(in);
  if ((response.capabilities & capability::kPluginAuth) && !in.at_end()) response.plugin = last_string(in);
  if (!in.ok()) return bad_handshake();
  if ((response.capabilities & capability::kConnectAttrs) && !in.at_end())
    response.attributes = in.lenenc_string();
  return response;
}

Result<HandshakeResponse> decode_change_user(std::string_view packet, uint32_t capabilities) {
  ByteReader in(packet);
  HandshakeResponse request;
  request.capabilities = capabilities;
  request.user = in.nul_string();
  request.auth_response = in.bytes(in.u8());
  request.database = last_string(in);
  if (!in.ok()) return bad_handshake();
  if (in.remaining() >= 2) request.collation = static_cast<uint8_t>(in.le16());
  return request;
}

}  // namespace commitd::wire

#include "wire/client_login.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/auth/password.h"
#include "wire/auth/rsa_key.h"
#include "wire/handshake.h"
#include "wire/protocol.h"
#include "wire/tls/tls_stream.h"

namespace commitd::wire {

namespace {

constexpr uint8_t kUtf8mb4GeneralCi = 45;
constexpr std::string_view kRequestPublicKey("\x02", 1);
constexpr uint8_t kFastAuthSuccess = 0x03;
constexpr uint8_t kPerformFullAuthentication = 0x04;

// Results in the older form with EOF packets: every server speaks it.
constexpr uint32_t kCapabilities = capability::kLongPassword | capability::kLongFlag |
                                   capability::kProtocol41 | capability::kTransactions |
                                   capability::kSecureConnection | capability::kMultiResults |
                                   capability::kPluginAuth | capability::kPluginAuthLenenc;

Error out_of_protocol() {
  return make_error(er::kClientMalformedPacket, "The server answered the login with a malformed packet");
}

Result<std::string> respond(const std::string& plugin, const std::string& password, const std::string& salt) {
  if (plugin == kCachingSha2) return sha2_response(password, salt);
  if (plugin == kNativePassword) return native_response(password, salt);
  return make_error(er::kClientAuthPluginCannotLoad,
                    "Authentication plugin '{}' is not supported; use {} for this account", plugin,
                    kCachingSha2);
}

struct Exchange {
  Channel& channel;
  const ClientOptions& options;
  std::string plugin, salt;
};

Task<Status> start_tls(PacketChannel& channel, const Greeting& greeting, const ClientOptions& options) {
  if ((greeting.capabilities & capability::kSsl) == 0) {
    co_return make_error(er::kClientTlsError,
                         "SSL connection error: SSL is required but the server doesn't support it");
  }
  channel.write_packet(encode_tls_request(kCapabilities));
  COMMITD_CO_RETURN_IF_ERROR(co_await channel.flush());
  TlsStream* tls = nullptr;
  channel.change_stream([&](std::unique_ptr<Stream> inner, std::string received) {
    auto stream = std::make_unique<TlsStream>(options.tls, TlsStream::Role::Client, std::move(inner),
                                              std::move(received));
    tls = stream.get();
    return stream;
  });
  auto shaken = co_await tls->handshake(options.deadline);
  if (!shaken.ok())
    co_return make_error(er::kClientTlsError, "SSL connection error: {}", shaken.error().message);
  co_return Status();
}

// Over TLS the password needs no encryption of its own.
Task<Status> send_password(Exchange& exchange) {
  exchange.channel.write_packet({exchange.options.password.c_str(), exchange.options.password.size() + 1});
  co_return co_await exchange.channel.flush();
}

Task<Result<std::string>> public_key(Exchange& exchange) {
  if (!exchange.options.public_key.empty()) co_return exchange.options.public_key;
  if (!exchange.options.get_public_key)
    co_return make_error(er::kClientAuthPlugin,
                         "Authentication plugin '{}' reported error: Authentication requires secure "
                         "connection.",
                         kCachingSha2);
  exchange.channel.write_packet(kRequestPublicKey);
  COMMITD_CO_RETURN_IF_ERROR(co_await exchange.channel.flush());
  auto key = co_await exchange.channel.read_packet(exchange.options.deadline);
  if (!key.ok()) co_return std::move(key).error();
  if (key->empty() || static_cast<uint8_t>(key->front()) != kAuthMoreData) co_return out_of_protocol();
  co_return key->substr(1);
}

Task<Status> send_encrypted_password(Exchange& exchange) {
  auto key = co_await public_key(exchange);
  if (!key.ok()) co_return std::move(key).error();
  std::string password(exchange.options.password.c_str(), exchange.options.password.size() + 1);
  auto encrypted = rsa_encrypt(*key, xor_with(password, exchange.salt));
  if (!encrypted) co_return make_error(er::kClientMalformedPacket, "The server's public key cannot be used");
  exchange.channel.write_packet(*encrypted);
  co_return co_await exchange.channel.flush();
}

// `request`: behind the header of an AuthSwitchRequest.
Task<Status> switch_method(Exchange& exchange, std::string_view request) {
  ByteReader in(request);
  exchange.plugin = in.nul_string();
  exchange.salt = in.rest().substr(0, kSaltSize);
  if (!in.ok()) co_return out_of_protocol();
  auto response = respond(exchange.plugin, exchange.options.password, exchange.salt);
  if (!response.ok()) co_return std::move(response).error();
  exchange.channel.write_packet(*response);
  co_return co_await exchange.channel.flush();
}

Task<Status> more_data(Exchange& exchange, std::string_view data) {
  if (data.size() != 1 || exchange.plugin != kCachingSha2) co_return out_of_protocol();
  switch (static_cast<uint8_t>(data.front())) {
    case kFastAuthSuccess:
      co_return Status();  // OK follows
    case kPerformFullAuthentication:
      if (exchange.options.tls) co_return co_await send_password(exchange);
      co_return co_await send_encrypted_password(exchange);
    default:
      co_return out_of_protocol();
  }
}

Task<Status> finish(Exchange& exchange) {
  for (;;) {
    auto packet = co_await exchange.channel.read_packet(exchange.options.deadline);
    if (!packet.ok()) co_return std::move(packet).error();
    if (packet->empty()) co_return out_of_protocol();
    std::string_view rest = std::string_view(*packet).substr(1);
    switch (static_cast<uint8_t>(packet->front())) {
      case kOkHeader:
        co_return Status();
      case kErrorHeader:
        co_return decode_error_packet(*packet);
      case kAuthSwitch:
        COMMITD_CO_RETURN_IF_ERROR(co_await switch_method(exchange, rest));
        break;
      case kAuthMoreData:
        COMMITD_CO_RETURN_IF_ERROR(co_await more_data(exchange, rest));
        break;
      default:
        co_return out_of_protocol();
    }
  }
}

}  // namespace

Task<Status> log_in(PacketChannel& channel, const ClientOptions& options) {
  auto packet = co_await channel.read_packet(options.deadline);
  if (!packet.ok()) co_return std::move(packet).error();
  if (!packet->empty() && static_cast<uint8_t>(packet->front()) == kErrorHeader)
    co_return decode_error_packet(*packet);
  auto greeting = decode_greeting(*packet);
  if (!greeting.ok()) co_return std::move(greeting).error();

  if (options.tls) COMMITD_CO_RETURN_IF_ERROR(co_await start_tls(channel, *greeting, options));

  Exchange exchange{channel, options, greeting->plugin, greeting->salt};
  // A method we do not have may be only the server's default: the account's own comes as a switch.
  if (exchange.plugin != kCachingSha2 && exchange.plugin != kNativePassword) exchange.plugin = kCachingSha2;
  HandshakeResponse response;
  response.capabilities = kCapabilities | (options.tls ? capability::kSsl : 0);
  response.max_packet = 1u << 30;
  response.collation = kUtf8mb4GeneralCi;
  response.user = options.user;
  response.plugin = exchange.plugin;
  response.auth_response = *respond(exchange.plugin, options.password, exchange.salt);
  channel.write_packet(encode(response));
  COMMITD_CO_RETURN_IF_ERROR(co_await channel.flush());
  co_return co_await finish(exchange);
}

}  // namespace commitd::wire

// The first packet of a connection in each direction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace commitd::wire {

// Protocol version 10.
struct Greeting {
  std::string server_version;
  uint32_t connection_id = 0;
  std::string salt;  // 20 bytes
  uint32_t capabilities = 0;
  uint8_t collation = 45;
  uint16_t status = 2;
  std::string plugin;
};

struct HandshakeResponse {
  uint32_t capabilities = 0;
  uint32_t max_packet = 0;
  uint8_t collation = 45;
  std::string user, auth_response, database, plugin;
};

uint32_t server_capabilities();

std::string encode(const Greeting& greeting);
Result<Greeting> decode_greeting(std::string_view packet);
std::string encode(const HandshakeResponse& response);
Result<HandshakeResponse> decode_handshake_response(std::string_view packet);  // error 1043

// COM_CHANGE_USER, behind the command byte.
Result<HandshakeResponse> decode_change_user(std::string_view packet, uint32_t capabilities);

}  // namespace commitd::wire

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
  std::string attributes;  // as they came: names and values, each with its length

  std::string_view attribute(std::string_view name) const;  // _client_name, program_name …; empty: unknown
};

// MariaDB's mariadb-binlog refuses a server whose SELECT VERSION() starts with none of the majors it knows.
bool is_mariadb_binlog_reader(const HandshakeResponse& response);

uint32_t server_capabilities();  // without TLS

// The short packet by which a client asks for TLS before it says who it is.
bool is_tls_request(std::string_view packet);
std::string encode_tls_request(uint32_t capabilities);

std::string encode(const Greeting& greeting);

// The greetings of one server, of which only the connection's number and its salt differ.
class GreetingForm {
 public:
  explicit GreetingForm(Greeting greeting);
  void append_to(std::string& packet, uint32_t connection_id, std::string_view salt) const;

 private:
  std::string packet_;
  size_t id_at_;
};

Result<Greeting> decode_greeting(std::string_view packet);
std::string encode(const HandshakeResponse& response);
Result<HandshakeResponse> decode_handshake_response(std::string_view packet);  // error 1043

// COM_CHANGE_USER, behind the command byte.
Result<HandshakeResponse> decode_change_user(std::string_view packet, uint32_t capabilities);

}  // namespace commitd::wire

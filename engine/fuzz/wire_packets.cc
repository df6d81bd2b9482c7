// The packets that a client sends before and after its login, as the server decodes them. The first byte of
// the input chooses the packet, the second is the number of a statement's parameters.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "wire/dump_commands.h"
#include "wire/handshake.h"
#include "wire/protocol.h"
#include "wire/statement_parameters.h"

using namespace commitd;
using namespace commitd::wire;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// What is decoded and encoded again means the same.
void login(std::string_view packet) {
  if (is_tls_request(packet)) return;
  auto decoded = decode_handshake_response(packet);
  if (!decoded.ok()) return;
  must((decoded->capabilities & ~server_capabilities()) == 0);
  must(decoded->user.size() + decoded->auth_response.size() + decoded->database.size() <= packet.size());
}

void greeting(std::string_view packet) {
  auto decoded = decode_greeting(packet);
  if (!decoded.ok() || decoded->salt.size() != 20) return;
  auto again = decode_greeting(encode(*decoded));
  must(again.ok() && again->salt == decoded->salt && again->capabilities == decoded->capabilities);
}

// Twice: the second execution goes on with the types of the first.
void execution(std::string_view packet, size_t parameters) {
  StatementParameters statement;
  statement.add_long_data(0, packet.substr(0, packet.size() / 2), 1 << 20);
  for (int round = 0; round < 2; ++round) {
    auto values = statement.decode(packet, parameters);
    must(!values.ok() || values->size() == parameters);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::string_view packet(reinterpret_cast<const char*>(data) + 2, size - 2);
  switch (data[0] % 7) {
    case 0:
      login(packet);
      break;
    case 1:
      greeting(packet);
      break;
    case 2:
      (void)decode_change_user(packet, server_capabilities());
      break;
    case 3:
      (void)decode_register_replica(packet);
      break;
    case 4:
      (void)decode_dump(packet);
      break;
    case 5:
      (void)decode_dump_gtid(packet);
      break;
    default:
      execution(packet, data[1] % 40);
  }
  return 0;
}

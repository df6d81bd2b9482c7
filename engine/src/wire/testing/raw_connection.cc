#include "wire/testing/raw_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdlib>

#include "base/bytes.h"
#include "runtime/socket_address.h"
#include "wire/auth/password.h"
#include "wire/protocol.h"

namespace commitd::wire::testing {

namespace {

UniqueFd connect_blocking(int family, const sockaddr* address, socklen_t size) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), address, size) != 0) abort();
  timeval patience{10, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return fd;
}

}  // namespace

RawConnection::RawConnection(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  fd_ = connect_blocking(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof(address));
}

RawConnection RawConnection::to_unix_socket(const std::string& path) {
  auto address = SocketAddress::unix_path(path);
  return RawConnection(connect_blocking(AF_UNIX, address->get(), address->size));
}

void RawConnection::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server has closed; the test sees that when it receives
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void RawConnection::send_packet(uint8_t sequence, std::string_view payload) {
  std::string packet;
  ByteWriter out(packet);
  out.le24(static_cast<uint32_t>(payload.size()));
  out.u8(sequence);
  out.bytes(payload);
  send_bytes(packet);
}

void RawConnection::finish_sending() {
  ::shutdown(fd_.get(), SHUT_WR);
}

bool RawConnection::receive_bytes(char* into, size_t size) {
  while (size > 0) {
    ssize_t got = ::recv(fd_.get(), into, size, 0);
    if (got <= 0) return false;
    into += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::optional<std::string> RawConnection::receive_packet() {
  char header[4];
  if (!receive_bytes(header, sizeof(header))) return std::nullopt;
  last_sequence_ = static_cast<uint8_t>(header[3]);
  std::string payload(load_le24(header), '\0');
  if (!receive_bytes(payload.data(), payload.size())) return std::nullopt;
  return payload;
}

std::string RawConnection::log_in(const std::string& user, const std::string& password,
                                  uint32_t extra_capabilities) {
  auto greeting = decode_greeting(receive_packet().value_or(""));
  if (!greeting.ok()) return "";
  HandshakeResponse response;
  response.capabilities = capability::kProtocol41 | capability::kSecureConnection | capability::kPluginAuth |
                          capability::kPluginAuthLenenc | extra_capabilities;
  response.user = user;
  response.plugin = kCachingSha2;
  response.auth_response = sha2_response(password, greeting->salt);
  send_packet(1, encode(response));
  std::string answer = receive_packet().value_or("");
  if (answer == "\x01\x03") answer = receive_packet().value_or("");
  return answer;
}

std::string RawConnection::command(uint8_t command, std::string_view arguments) {
  std::string payload(1, static_cast<char>(command));
  payload += arguments;
  send_packet(0, payload);
  return receive_packet().value_or("");
}

uint16_t error_code(std::string_view packet) {
  if (packet.size() < 3 || static_cast<uint8_t>(packet[0]) != kErrorHeader) return 0;
  return load_le16(packet.data() + 1);
}

}  // namespace commitd::wire::testing

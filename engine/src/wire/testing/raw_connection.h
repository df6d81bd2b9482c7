// A blocking connection that sends whatever a test wants, protocol or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/unique_fd.h"
#include "wire/handshake.h"

namespace commitd::wire::testing {

class RawConnection {
 public:
  explicit RawConnection(uint16_t port);
  static RawConnection to_unix_socket(const std::string& path);

  void send_bytes(std::string_view bytes);
  void send_packet(uint8_t sequence, std::string_view payload);
  void finish_sending();
  bool receive_bytes(char* into, size_t size);  // false when they do not all come
  // nullopt at the end of the stream (or after ten seconds without a byte).
  std::optional<std::string> receive_packet();
  uint8_t last_sequence() const { return last_sequence_; }

  // Logs in with caching_sha2_password's short way; the packet it ends with: OK, ERR, or the
  // demand for the password itself.
  std::string log_in(const std::string& user, const std::string& password, uint32_t extra_capabilities = 0);
  // Sends a command, receives one packet.
  std::string command(uint8_t command, std::string_view arguments = {});

 private:
  explicit RawConnection(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  uint8_t last_sequence_ = 0;
};

// The number of an ERR packet; 0 when it is none.
uint16_t error_code(std::string_view packet);

}  // namespace commitd::wire::testing

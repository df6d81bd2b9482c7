#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/reactor.h"

namespace commitd {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  std::string host() const;  // numeric, without the port; IPv4 also when it came mapped into IPv6;
                             // "localhost" for unix sockets
  uint16_t port() const;

  static Result<SocketAddress> unix_path(const std::string& path);
};

// Numeric addresses are answered at once; names are looked up on a thread of their own. Error 2005, or 1159
// at the deadline.
Task<Result<std::vector<SocketAddress>>> resolve(std::string host, uint16_t port, Deadline deadline);

}  // namespace commitd

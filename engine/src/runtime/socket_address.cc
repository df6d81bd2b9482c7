#include "runtime/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "base/error_codes.h"
#include "runtime/parker.h"

namespace commitd {

namespace {

using Addresses = std::vector<SocketAddress>;

Result<Addresses> look_up(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  int rc = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (rc != 0) {
    return make_error(er::kClientUnknownHost, "Unknown MySQL server host '{}' ({})", host, gai_strerror(rc));
  }
  Addresses addresses;
  for (addrinfo* entry = found; entry; entry = entry->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
  }
  freeaddrinfo(found);
  return addresses;
}

// Shared by the waiting coroutine and the thread that looks the name up; whoever is last frees it.
struct Lookup {
  std::mutex mutex;
  Parker* waiter = nullptr;  // nullptr once the coroutine does not wait any more
  std::optional<Result<Addresses>> answer;
};

// Takes the waiter off however the coroutine leaves, also when its frame is destroyed.
class WaitingFor {
 public:
  WaitingFor(std::shared_ptr<Lookup> lookup, Parker& parker) : lookup_(std::move(lookup)) {
    lookup_->waiter = &parker;
  }
  ~WaitingFor() {
    std::lock_guard lock(lookup_->mutex);
    lookup_->waiter = nullptr;
  }

 private:
  std::shared_ptr<Lookup> lookup_;
};

void look_up_on_thread(std::shared_ptr<Lookup> lookup, std::string host, uint16_t port) {
  std::thread([lookup = std::move(lookup), host = std::move(host), port] {
    Result<Addresses> answer = look_up(host, port, AI_ADDRCONFIG);
    std::lock_guard lock(lookup->mutex);
    lookup->answer = std::move(answer);
    if (lookup->waiter) lookup->waiter->wake();
  }).detach();
}

}  // namespace

std::string SocketAddress::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, text, sizeof(text));
  } else if (family() == AF_INET6) {
    const in6_addr& ip = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
      inet_ntop(AF_INET, &ip.s6_addr[12], text, sizeof(text));
    } else {
      inet_ntop(AF_INET6, &ip, text, sizeof(text));
    }
  } else {
    return "localhost";
  }
  return text;
}

uint16_t SocketAddress::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  return 0;
}

Result<SocketAddress> SocketAddress::unix_path(const std::string& path) {
  SocketAddress address;
  auto& un = reinterpret_cast<sockaddr_un&>(address.storage);
  if (path.size() >= sizeof(un.sun_path)) {
    return make_error(
        er::kClientConnHost,
        "The socket path '{}' is longer than the {} bytes the system allows; choose a shorter one", path,
        sizeof(un.sun_path) - 1);
  }
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.c_str(), path.size() + 1);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

Task<Result<std::vector<SocketAddress>>> resolve(std::string host, uint16_t port, Deadline deadline) {
  Result<Addresses> numeric = look_up(host, port, AI_NUMERICHOST);
  if (numeric.ok()) co_return numeric;
  auto lookup = std::make_shared<Lookup>();
  Parker parker;
  WaitingFor waiting(lookup, parker);
  look_up_on_thread(lookup, host, port);
  if (co_await parker.park(deadline) == Wake::TimedOut) {
    co_return make_error(er::kNetReadInterrupted, "No answer in time to the name look-up of '{}'", host);
  }
  std::lock_guard lock(lookup->mutex);
  co_return std::move(*lookup->answer);
}

}  // namespace commitd

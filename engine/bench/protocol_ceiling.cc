// What no server can exceed with these clients on this machine: it speaks just enough of the protocol to log
// anybody in and answers every command with one fixed result, without looking at it.
// `benchmarks/peers/compare.py … --server ceiling` runs it beside real servers.
//
//   protocol_ceiling SOCKET [THREADS]
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr char kQuit = 0x01, kQuery = 0x03, kPrepare = 0x16, kExecute = 0x17, kClose = 0x19;

struct Client {
  int fd;
  bool logged_in = false;
};

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

void append_packet(std::string& out, uint8_t sequence, std::string_view payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  const char header[4] = {static_cast<char>(size), static_cast<char>(size >> 8),
                          static_cast<char>(size >> 16), static_cast<char>(sequence)};
  out.append(header, 4).append(payload);
}

std::string packets(std::initializer_list<std::string_view> payloads, uint8_t first) {
  std::string out;
  for (std::string_view payload : payloads) append_packet(out, first++, payload);
  return out;
}

using namespace std::string_view_literals;

// Status: autocommit.
constexpr std::string_view kOk = "\0\0\0\2\0\0\0"sv;
constexpr std::string_view kEof = "\xFE\0\0\2\0"sv;
// A VARCHAR column `c` of 480 bytes, as sysbench's tables have it.
constexpr std::string_view kColumn = "\3def\0\0\0\1c\0\x0C\x2D\0\xE0\1\0\0\xFD\0\0\0\0\0"sv;
constexpr std::string_view kPrepared = "\0\1\0\0\0\1\0\1\0\0\0\0"sv;

std::string greeting() {
  // Capabilities: protocol 4.1, secure connection, plugin names, multi-statements and -results, the schema at
  // login.
  return packets({"\x0A"
                  "8.4.0-ceiling\0\1\0\0\0"
                  "12345678\0"
                  "\x0A\xA2\x2D\2\0\x0B\0\x15\0\0\0\0\0\0\0\0\0\0"
                  "123456789012\0"
                  "mysql_native_password\0"sv},
                 0);
}

const std::string kGreeting = greeting();
const std::string kLoggedIn = packets({kOk}, 2);
const std::string kDone = packets({kOk}, 1);
const std::string kStatement = packets({kPrepared, kColumn, kEof, kColumn, kEof}, 1);

std::string row(bool binary) {
  constexpr size_t kLength = 119;  // of sysbench's column c
  std::string payload = binary ? std::string("\0\0", 2) : std::string();
  payload.push_back(static_cast<char>(kLength));
  payload.append(kLength, '8');
  return packets({"\1"sv, kColumn, kEof, payload, kEof}, 1);
}

const std::string kTextRow = row(false), kBinaryRow = row(true);

const std::string* answer(std::string_view command) {
  switch (command.empty() ? '\0' : command.front()) {
    case kQuery:
      return command.size() > 1 && (command[1] | 0x20) == 's' && (command[2] | 0x20) == 'e' &&
                     (command[3] | 0x20) == 'l'
                 ? &kTextRow
                 : &kDone;
    case kPrepare:
      return &kStatement;
    case kExecute:
      return &kBinaryRow;
    case kClose:
      return nullptr;
    default:
      return &kDone;
  }
}

// False: the client has gone. One receive takes all that has come, so each send answers all of it.
bool serve(Client& client) {
  static thread_local std::array<char, 1 << 20> buffer;  // the longest command that is asked
  ssize_t got = recv(client.fd, buffer.data(), buffer.size(), 0);
  if (got <= 0) return got < 0 && errno == EAGAIN;
  std::string out;
  for (size_t at = 0; at + 4 <= static_cast<size_t>(got);) {
    const auto* head = reinterpret_cast<const unsigned char*>(buffer.data() + at);
    const size_t size = head[0] | head[1] << 8 | head[2] << 16;
    while (at + 4 + size > static_cast<size_t>(got)) {  // only long INSERTs come in pieces
      const ssize_t more = recv(client.fd, buffer.data() + got, buffer.size() - static_cast<size_t>(got), 0);
      if (more == 0 || (more < 0 && errno != EAGAIN)) return false;
      if (more > 0) got += more;
    }
    const std::string_view command(buffer.data() + at + 4, size);
    at += 4 + size;
    if (!client.logged_in) {
      client.logged_in = true;
      out += kLoggedIn;
      continue;
    }
    if (!command.empty() && command.front() == kQuit) return false;
    if (const std::string* reply = answer(command)) out += *reply;
  }
  return out.empty() ||
         send(client.fd, out.data(), out.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(out.size());
}

void watch(int epoll, int fd, void* what, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = what;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) die("epoll_ctl");
}

void take_connections(int listener, int epoll) {
  for (int fd; (fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    if (send(fd, kGreeting.data(), kGreeting.size(), MSG_NOSIGNAL) < 0) die("greeting");
    watch(epoll, fd, new Client{fd}, EPOLLIN | EPOLLET);
  }
}

void loop(int listener) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(epoll, listener, nullptr, EPOLLIN | EPOLLEXCLUSIVE);
  for (std::array<epoll_event, 256> events;;) {
    const int count = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto* client = static_cast<Client*>(events[static_cast<size_t>(i)].data.ptr);
      if (client == nullptr) {
        take_connections(listener, epoll);
      } else if (!serve(*client)) {
        close(client->fd);
        delete client;
      }
    }
  }
}

int listen_on(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
  unlink(path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(fd, 3000) != 0)
    die(path);
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: protocol_ceiling SOCKET [THREADS]\n");
    return 2;
  }
  const int listener = listen_on(argv[1]);
  std::vector<std::thread> others;
  for (int i = 1; i < (argc > 2 ? std::atoi(argv[2]) : 2); ++i) others.emplace_back(loop, listener);
  loop(listener);
}

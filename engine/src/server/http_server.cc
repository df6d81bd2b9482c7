#include "server/http_server.h"

#include <sys/socket.h>

#include <fmt/format.h>

#include "runtime/socket.h"

namespace commitd::server {

namespace {

constexpr size_t kMaxRequest = 8 * 1024;
constexpr std::chrono::seconds kPatience{10};
constexpr const char* kPlain = "text/plain";
constexpr std::string_view kEndOfHead = "\r\n\r\n";

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

std::string encode(const HttpReply& reply, bool with_body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", reply.status,
      reason(reply.status), reply.content_type, reply.body.size(),
      with_body ? std::string_view(reply.body) : std::string_view());
}

// The head of a request; empty when the client sends something else, too much, or nothing in time.
Task<std::string> read_head(Socket& socket, Deadline deadline) {
  std::string head;
  char buffer[1024];
  while (head.find(kEndOfHead) == std::string::npos) {
    auto got = co_await socket.read(buffer, deadline);
    if (!got.ok() || *got == 0 || head.size() + *got > kMaxRequest) co_return std::string();
    head.append(buffer, *got);
  }
  co_return std::move(head);
}

}  // namespace

Status HttpServer::listen() {
  auto fd = listen_tcp(address_, port_);
  if (!fd.ok()) return std::move(fd).error();
  listening_ = std::move(*fd);
  port_ = local_address(listening_.get()).port();
  reactor_.spawn(accept());
  return {};
}

void HttpServer::stop_accepting() {
  if (listening_.valid()) ::shutdown(listening_.get(), SHUT_RDWR);
}

Task<void> HttpServer::accept() {
  Acceptor acceptor(listening_.get());
  for (;;) {
    UniqueFd fd = co_await acceptor.accept();
    if (!fd.valid()) co_return;
    Reactor::current()->spawn(serve(std::move(fd)));
  }
}

Task<void> HttpServer::serve(UniqueFd fd) {
  Socket socket(std::move(fd));
  Deadline deadline = Clock::now() + kPatience;
  std::string head = co_await read_head(socket, deadline);
  if (head.empty()) co_return;
  std::string response = answer(head.substr(0, head.find("\r\n")));
  (void)co_await socket.write(response, deadline);  // who does not take it has gone
}

std::string HttpServer::answer(const std::string& request_line) const {
  size_t end_of_method = request_line.find(' ');
  size_t end_of_target = request_line.find(' ', end_of_method + 1);
  if (end_of_method == std::string::npos || end_of_target == std::string::npos) {
    return encode({400, kPlain, "Bad request\n"}, true);
  }
  std::string method = request_line.substr(0, end_of_method);
  std::string target = request_line.substr(end_of_method + 1, end_of_target - end_of_method - 1);
  if (method != "GET" && method != "HEAD")
    return encode({405, kPlain, "Only GET and HEAD are answered here\n"}, true);
  auto handler = handlers_.find(target.substr(0, target.find('?')));
  if (handler == handlers_.end())
    return encode({404, kPlain, "Nothing here; try /metrics, /healthz or /readyz\n"}, method == "GET");
  return encode(handler->second(), method == "GET");
}

}  // namespace commitd::server

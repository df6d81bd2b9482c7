// A small HTTP/1.1 responder for scrapers and probes: GET and HEAD of fixed paths, one request per
// connection, bounded in size and time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "runtime/reactor.h"
#include "runtime/unique_fd.h"

namespace commitd::server {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain";
  std::string body;
};

using HttpHandler = std::function<HttpReply()>;

class HttpServer {
 public:
  // Answers on `reactor`, which must have stopped running before this object goes. Port 0 takes any free one.
  HttpServer(Reactor& reactor, std::string address, uint16_t port)
      : reactor_(reactor), address_(std::move(address)), port_(port) {}

  // Handlers run on the reactor and must not block. Before listen().
  void get(const std::string& path, HttpHandler handler) { handlers_[path] = std::move(handler); }
  Status listen();
  uint16_t port() const { return port_; }
  void stop_accepting();

 private:
  Task<void> accept();
  Task<void> serve(UniqueFd fd);
  std::string answer(const std::string& request_line) const;

  Reactor& reactor_;
  std::string address_;
  uint16_t port_;
  UniqueFd listening_;
  std::map<std::string, HttpHandler> handlers_;
};

}  // namespace commitd::server

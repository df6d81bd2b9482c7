#include "server/http_server.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/socket.h"

namespace commitd::server {
namespace {

Task<std::string> exchange(uint16_t port, std::string request) {
  auto socket = co_await Socket::connect("127.0.0.1", port, Clock::now() + std::chrono::seconds(10));
  if (!socket.ok()) co_return socket.error().message;
  Status sent = co_await (*socket)->write(request);
  std::string answer;
  char buffer[1024];
  while (sent.ok()) {
    auto got = co_await (*socket)->read(buffer, Clock::now() + std::chrono::seconds(10));
    if (!got.ok() || *got == 0) break;
    answer.append(buffer, *got);
  }
  co_return std::move(answer);
}

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() : reactor_("http"), server_(reactor_, "127.0.0.1", 0) {
    server_.get("/readyz", [] { return HttpReply{503, "text/plain", "no quorum\n"}; });
    server_.get("/metrics", [] { return HttpReply{200, "text/plain; version=0.0.4", "a 1\n"}; });
    EXPECT_TRUE(server_.listen().ok());
    thread_ = std::thread([this] { reactor_.run(); });
  }
  ~HttpServerTest() override {
    reactor_.stop();
    thread_.join();
  }

  std::string send(std::string request) { return run_blocking(exchange(server_.port(), std::move(request))); }

  Reactor reactor_;
  HttpServer server_;
  std::thread thread_;
};

TEST_F(HttpServerTest, AHandlersStatusTypeAndBodyAreTheAnswer) {
  EXPECT_EQ(send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
            "Connection: close\r\n\r\nno quorum\n");
}

TEST_F(HttpServerTest, TheQueryIsNoPartOfThePath) {
  EXPECT_TRUE(send("GET /metrics?x=1 HTTP/1.1\r\n\r\n").ends_with("\r\n\r\na 1\n"));
}

TEST_F(HttpServerTest, HeadHasTheLengthAndNoBody) {
  std::string answer = send("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_NE(answer.find("Content-Length: 4\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, OtherPathsMethodsAndLinesHaveTheirOwnErrors) {
  EXPECT_TRUE(send("GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(send("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(send("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, ARequestWithoutEndIsCutOff) {
  EXPECT_EQ(send("GET /" + std::string(100'000, 'x')), "");
}

}  // namespace
}  // namespace commitd::server

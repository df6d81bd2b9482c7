#include "wire/stream.h"

namespace commitd::wire {

namespace {

class SocketStream final : public Stream {
 public:
  explicit SocketStream(std::unique_ptr<Socket> socket)
      : socket_(std::move(socket)), peer_(socket_->peer_host()) {}

  Task<Result<size_t>> read(std::span<char> into, Deadline deadline) override {
    return socket_->read(into, deadline);
  }
  Task<Status> write(std::string_view bytes, Deadline deadline) override {
    return socket_->write(bytes, deadline);
  }
  std::optional<size_t> read_now(std::span<char> into) override { return socket_->read_now(into); }
  size_t write_now(std::string_view bytes) override { return socket_->write_now(bytes); }
  void shutdown() override { socket_->shutdown(); }
  std::string peer_address() const override { return peer_; }

 private:
  std::unique_ptr<Socket> socket_;
  std::string peer_;
};

}  // namespace

std::unique_ptr<Stream> socket_stream(std::unique_ptr<Socket> socket) {
  return std::make_unique<SocketStream>(std::move(socket));
}

}  // namespace commitd::wire

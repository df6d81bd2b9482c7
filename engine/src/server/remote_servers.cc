#include "server/remote_servers.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "base/error_codes.h"
#include "wire/client.h"
#include "wire/protocol.h"

namespace commitd::server {
namespace {

// What a client library would say of a broken connection.
Status as_client_says(Status status) {
  if (status.ok() || status.error().code != er::kNetReadError) return status;
  return make_error(er::kClientServerLost, "Lost connection to MySQL server during query");
}

class RemoteConnection final : public storage::RemoteConnection {
 public:
  explicit RemoteConnection(std::unique_ptr<wire::Client> client) : client_(std::move(client)) {}

  Task<Status> query(std::string_view sql, storage::RemoteRows& rows,
                     std::chrono::milliseconds read_timeout) override {
    const std::function<Deadline()> deadline = [read_timeout] { return Clock::now() + read_timeout; };
    const wire::Client::TakeRow take = [&rows](std::span<const wire::Client::TextField> fields) {
      return rows.row(fields);
    };
    Status status = co_await client_->query(sql, deadline, take);
    co_return as_client_says(std::move(status));
  }

  bool usable() const override { return client_->answered(); }
  void shutdown() override { client_->channel().shutdown(); }

  Task<void> quit() override {
    (void)co_await client_->send_command(static_cast<uint8_t>(wire::Command::Quit), {});
  }

 private:
  std::unique_ptr<wire::Client> client_;
};

}  // namespace

Task<Result<std::unique_ptr<storage::RemoteConnection>>> RemoteServers::connect(
    const storage::RemoteTable& at, storage::ConnectionData& data) {
  wire::ClientOptions options;
  options.host = at.host;
  options.port = at.port;
  options.user = at.user;
  options.password = at.password;
  options.deadline = Clock::now() + std::chrono::seconds(limits_->connect_timeout.load());
  auto socket = co_await Socket::connect(options.host, options.port, options.deadline);
  if (!socket.ok()) co_return std::move(socket).error();
  // The login may give the socket up before its wait is over.
  const UniqueFd also(::fcntl((*socket)->fd(), F_DUPFD_CLOEXEC, 0));
  const storage::ConnectionData::Wait wait(data, [&also] { ::shutdown(also.get(), SHUT_RDWR); });
  std::unique_ptr<wire::Stream> stream = wire::socket_stream(*std::move(socket));
  auto client = co_await wire::Client::over(std::move(stream), std::move(options));
  if (!client.ok()) co_return std::move(client).error();
  std::unique_ptr<storage::RemoteConnection> connection =
      std::make_unique<RemoteConnection>(*std::move(client));
  co_return std::move(connection);
}

}  // namespace commitd::server

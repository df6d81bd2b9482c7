// A MySQL client: what the replica's receiver uses to talk to its source, and FEDERATED tables to read
// theirs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/task.h"
#include "wire/channel.h"
#include "wire/stream.h"
#include "wire/tls/tls_context.h"

namespace commitd::wire {

struct ClientOptions {
  std::string host;
  uint16_t port = 3306;
  std::string user, password;
  Deadline deadline = kNoDeadline;                  // for connecting and authenticating
  std::shared_ptr<const TlsContext> tls = nullptr;  // set: only with TLS
  // What protects a password without TLS: the server's public key (PEM), or, when it is empty, the one that
  // the server sends if it is asked to.
  std::string public_key = {};
  bool get_public_key = true;
};

class Client {
 public:
  // Resolves, connects, authenticates (caching_sha2_password: fast path and RSA full path;
  // mysql_native_password).
  static Task<Result<std::unique_ptr<Client>>> connect(ClientOptions options);
  // The same over a stream that is connected already.
  static Task<Result<std::unique_ptr<Client>>> over(std::unique_ptr<Stream> stream, ClientOptions options);

  using TextRow = std::vector<std::optional<std::string>>;
  Task<Result<std::vector<TextRow>>> query(std::string_view sql, Deadline deadline);
  // The rows as they come. `deadline` is asked before each packet; an error of `take` ends the reading in the
  // middle of the answer.
  using TextField = std::optional<std::string_view>;
  using TakeRow = std::function<Status(std::span<const TextField>)>;
  Task<Status> query(std::string_view sql, const std::function<Deadline()>& deadline, const TakeRow& take);
  // The last answer was read to its end, be it an error: the next command may be sent.
  bool answered() const { return answered_; }
  // Sends a command packet and leaves the rest to the caller (dump).
  Task<Status> send_command(uint8_t command, std::string_view payload);
  Channel& channel() { return *channel_; }

 private:
  explicit Client(std::unique_ptr<Channel> channel);
  Task<Status> read_answer(const std::function<Deadline()>& deadline, const TakeRow& take);

  std::unique_ptr<Channel> channel_;
  bool answered_ = true;
};

}  // namespace commitd::wire

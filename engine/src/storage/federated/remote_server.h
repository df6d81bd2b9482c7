// Another MySQL-protocol server, as this engine uses it. The protocol is above storage, so that server/
// implements this (server/remote_servers.h).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/task.h"
#include "storage/connection_data.h"
#include "storage/federated/connection_string.h"

namespace commitd::storage {

// Takes a result row by row. An error ends the reading.
class RemoteRows {
 public:
  using Field = std::optional<std::string_view>;  // nullopt: NULL
  virtual ~RemoteRows() = default;
  virtual Status row(std::span<const Field> fields) = 0;
};

// Belongs to the reactor it was made on. Going away it closes without a word.
class RemoteConnection {
 public:
  virtual ~RemoteConnection() = default;
  // `read_timeout`: for each step of the answer.
  virtual Task<Status> query(std::string_view sql, RemoteRows& rows,
                             std::chrono::milliseconds read_timeout) = 0;
  // It can be asked again: the last answer, be it an error, was read to its end.
  virtual bool usable() const = 0;
  virtual void shutdown() = 0;  // from any thread: what waits for the other server ends
  virtual Task<void> quit() = 0;
};

class RemoteServers {
 public:
  virtual ~RemoteServers() = default;
  // Logged in, within connect_timeout. `data`: lets a KILL end the wait.
  virtual Task<Result<std::unique_ptr<RemoteConnection>>> connect(const RemoteTable& at,
                                                                  ConnectionData& data) = 0;
};

}  // namespace commitd::storage

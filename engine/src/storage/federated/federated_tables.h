// ENGINE=FEDERATED: tables whose rows are on other servers, and only read here. Each session has connections
// of its own to those servers: made at first use, kept until the session ends.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "runtime/task.h"
#include "storage/connection_data.h"
#include "storage/federated/connection_string.h"
#include "storage/federated/remote_server.h"

namespace commitd::storage {

class FederatedTables {
 public:
  // Before the first read. Without it no server can be reached.
  void reach_by(RemoteServers* servers) { servers_ = servers; }

  struct Patience {
    std::chrono::milliseconds read_timeout{30'000};
    std::function<bool()> interrupted;  // the session was killed
  };
  // Gives the rows of `select`, asked of the server that has the table. Errors: those of MySQL's FEDERATED
  // (1429, 1430, 1431), or what `rows` says. A connection that has been lost since its last use is made anew.
  Task<Status> read(ConnectionData& data, const RemoteTable& table, std::string_view select, RemoteRows& rows,
                    const Patience& patience) const;
  // Tells the other servers that this connection's session is over.
  static Task<void> close(ConnectionData& data);

 private:
  struct Connections;
  Task<Result<RemoteConnection*>> connect(Connections& all, ConnectionData& data, const RemoteTable& table,
                                          const Patience& patience) const;

  RemoteServers* servers_ = nullptr;
};

}  // namespace commitd::storage

// The servers that FEDERATED tables are on, reached by the protocol's client.
#pragma once

#include <memory>

#include "storage/federated/remote_server.h"
#include "wire/server_limits.h"

namespace commitd::server {

class RemoteServers final : public storage::RemoteServers {
 public:
  explicit RemoteServers(std::shared_ptr<const wire::ServerLimits> limits) : limits_(std::move(limits)) {}

  Task<Result<std::unique_ptr<storage::RemoteConnection>>> connect(const storage::RemoteTable& at,
                                                                   storage::ConnectionData& data) override;

 private:
  std::shared_ptr<const wire::ServerLimits> limits_;
};

}  // namespace commitd::server

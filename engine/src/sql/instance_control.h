// What the control statements and SHOW commands of replication ask of the server; implemented in replication/
// (see engine/CONTROL.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "runtime/task.h"

namespace commitd::sql {

struct FollowTarget {
  std::string host;
  uint16_t port = 3306;
  Uuid source_uuid;
  std::string user, password;
};

// Name and text value of one column; nullopt = NULL.
using NamedValues = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct AttachedReplica {  // that has said who it is
  uint32_t server_id = 0;
  std::string host;
  uint16_t port = 0;
  Uuid uuid;  // nil: not told
};

class InstanceControl {
 public:
  virtual ~InstanceControl() = default;
  virtual Task<Status> initialize() = 0;
  virtual Task<Status> fence(uint64_t epoch) = 0;
  virtual Task<Status> promote(uint64_t epoch, uint32_t wait_count, std::vector<Uuid> members) = 0;
  virtual Task<Status> follow(uint64_t epoch, FollowTarget target) = 0;
  virtual Task<Status> set_quorum(uint64_t epoch, uint64_t version, uint32_t wait_count,
                                  std::vector<Uuid> members) = 0;

  // Outside an operator: CHANGE REPLICATION SOURCE TO / START REPLICA / STOP REPLICA / RESET REPLICA.
  virtual Task<Status> change_source(FollowTarget target, bool auto_position) = 0;
  virtual Task<Status> start_replica() = 0;
  virtual Task<Status> stop_replica() = 0;

  // The row of performance_schema.commitd_instance, and of SHOW REPLICA STATUS (empty when there is no
  // source).
  virtual NamedValues instance_row() = 0;
  virtual NamedValues replica_status() = 0;
  virtual std::vector<AttachedReplica> replicas() { return {}; }
  // Error 1290 with the reason while this server does not accept writes (undecided, replica, read_only);
  // checked when a statement is about to write.
  virtual Status check_writable() = 0;
  // read_only: others than SUPER and CONNECTION_ADMIN get 1290.
  virtual bool only_privileged_may_write() const { return false; }
  // This server belongs to a cluster: what it acknowledges must survive a loss of power.
  virtual bool serves_under_epochs() const { return false; }
};

}  // namespace commitd::sql

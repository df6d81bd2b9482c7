// What the control statements and SHOW commands of replication ask of the server; implemented in replication/
// (see engine/CONTROL.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "runtime/task.h"
#include "sql/apply_until.h"
#include "sql/replication_filter.h"
#include "sql/source_options.h"

namespace commitd::sql {

struct FollowTarget {
  std::string host;
  uint16_t port = 3306;
  Uuid source_uuid;
  std::string user, password;
  SourceOptions options = {};

  bool operator==(const FollowTarget&) const = default;
};

// IO_THREAD and SQL_THREAD.
struct ReplicaThreads {
  bool receiver = true, applier = true;
};

enum class OnSemisyncTimeout : uint8_t { Async, Block, Error };  // commitd_semi_sync_on_timeout
enum class WaitPoint : uint8_t { AfterSync, AfterCommit };       // rpl_semi_sync_source_wait_point

// How the master of an epoch waits for acknowledgements.
struct SemisyncTerms {
  static constexpr std::chrono::milliseconds kForEver{UINT32_MAX};

  std::chrono::milliseconds timeout = kForEver;
  OnSemisyncTimeout on_timeout = OnSemisyncTimeout::Block;
  WaitPoint wait_point = WaitPoint::AfterSync;
  std::chrono::milliseconds lease{0};  // serves clients so long without a word from enough members; 0: always

  bool operator==(const SemisyncTerms&) const = default;
};

struct QuorumRequest {
  uint32_t wait_count = 0;
  std::vector<Uuid> members;
  SemisyncTerms terms = {};
};

// Name and text value of one column; nullopt = NULL.
using NamedValues = std::vector<std::pair<std::string, std::optional<std::string>>>;

enum class ReplicationTable : uint8_t {
  ConnectionConfiguration,
  ConnectionStatus,
  ApplierConfiguration,
  ApplierStatus,
  ApplierStatusByWorker,
  ApplierFilters,
  ApplierGlobalFilters,
};

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
  virtual Task<Status> promote(uint64_t epoch, QuorumRequest quorum) = 0;
  virtual Task<Status> follow(uint64_t epoch, FollowTarget target) = 0;
  virtual Task<Status> set_quorum(uint64_t epoch, uint64_t version, QuorumRequest quorum) = 0;

  // Outside an operator: CHANGE REPLICATION SOURCE TO / START REPLICA / STOP REPLICA.
  // Of what is known of the source; after an error nothing has changed.
  using SourceChange = std::function<Status(FollowTarget&)>;
  virtual Task<Status> change_source(SourceChange change) = 0;
  // False: the applier runs already, and `until` is ignored.
  virtual Task<Result<bool>> start_replica(ReplicaThreads threads, std::optional<ApplyUntil> until) = 0;
  virtual Task<Status> stop_replica(ReplicaThreads threads) = 0;
  // `all`: and nothing is known of the source any more.
  virtual Task<Status> reset_replica(bool all) = 0;
  // `rules`: the names of those that it sets.
  virtual Task<Status> change_filter(std::function<void(ReplicationFilter&)> change,
                                     std::vector<std::string> rules) = 0;

  // The row of performance_schema.commitd_instance, and of SHOW REPLICA STATUS (empty when there is no
  // source).
  virtual NamedValues instance_row() = 0;
  virtual NamedValues replica_status() = 0;
  // The rows of performance_schema.replication_….
  virtual std::vector<NamedValues> replication_rows(ReplicationTable table) = 0;
  virtual std::vector<AttachedReplica> replicas() { return {}; }
  // Error 1290 with the reason while this server does not accept writes (undecided, replica, read_only);
  // checked when a statement is about to write.
  virtual Status check_writable() = 0;
  // read_only: others than SUPER and CONNECTION_ADMIN get 1290.
  virtual bool only_privileged_may_write() const { return false; }
  // This server belongs to a cluster: what it acknowledges must survive a loss of power.
  virtual bool serves_under_epochs() const { return false; }
  // The master takes no more writes; answers when everything that it has logged is acknowledged.
  virtual Task<Status> hand_over(uint64_t epoch, std::chrono::milliseconds timeout) = 0;
  // False: another server may be the master by now, so what this one would answer may be out of date. Asked
  // for each command of a client.
  virtual bool may_serve_clients() const { return true; }
};

}  // namespace commitd::sql

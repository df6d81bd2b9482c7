// What a server shows of its role, taken at one moment, and the rows made of it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "commit/commit_pipeline.h"
#include "replication/ack_tracker.h"
#include "replication/receiver.h"
#include "replication/role.h"
#include "replication/role_state.h"
#include "sql/instance_control.h"

namespace commitd::replication {

// What a server stands on, beside its role.
struct Surroundings {
  std::string data_format;
  uint64_t disk_bytes = 0, disk_free_bytes = 0;  // of the data directory's volume
  std::optional<std::string> certificate_not_before, certificate_not_after;
  std::string tls_digest;         // of CA and certificate that are in use
  std::string built_in_accounts;  // that there are
};

struct RoleView {
  Uuid server_uuid;
  uint32_t server_id = 0;
  std::string version;
  Role role = Role::Uninitialized;
  uint64_t epoch = 0;
  bool writable = false;
  bool handed_over = false;
  bool refuses_commits = false;   // semisync does, since too few have acknowledged
  bool may_serve_clients = true;  // a master's lease
  std::string_view offline;       // why clients are sent away that only come for data; empty: they are not
  Surroundings surroundings;
  bool super_read_only = false;  // as somebody wishes: it serves reads
  sql::FollowTarget source;
  ReceiverReport receiver;
  AckTracker::Snapshot acknowledgements;

  uint64_t log_epoch_before = 0, gno_before = 0;  // of a master: when its mastership began

  // Nothing while there is no pipeline.
  binlog::CommitPipeline::State log;

  bool writes_blocked() const;
  // Transactions that wait for acknowledgements; only a server that waits for some has any.
  uint64_t ack_waiting() const;
  std::optional<double> seconds_since_heartbeat() const;
  std::optional<Error> applier_stopped() const;
  std::optional<std::string> not_ready() const;

  sql::NamedValues instance_row() const;  // performance_schema.commitd_instance
};

}  // namespace commitd::replication

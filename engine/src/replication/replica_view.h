// What a replica shows of its receiver and its applier: SHOW REPLICA STATUS and the tables
// performance_schema.replication_….
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replication/apply_gate.h"
#include "replication/role_view.h"
#include "sql/instance_control.h"

namespace commitd::replication {

struct ReplicaView {
  RoleView role;
  bool applies = false;  // the applier runs, unless it has stopped by an error
  ApplyRule rule;
  std::optional<sql::ApplyUntil> until;  // of the latest start of the applier
  std::optional<uint64_t> apply_error_at;
  std::optional<ReceivedEntry> next, last_applied, newest;
  SourceStand stand;  // by file and position
  std::vector<binlog::AheadWorker> workers;
  // With log_replica_updates the own log is the relay log.
  std::string relay_file;
  uint64_t relay_position = 0, relay_bytes = 0;  // up to where it is applied; behind that
  sql::ReplicationFilter filter;
  std::vector<sql::NamedValues> filters;  // one row for each
  uint64_t now = 0;                       // microseconds

  sql::NamedValues status() const;  // empty without a source
  std::vector<sql::NamedValues> rows(sql::ReplicationTable table) const;

 private:
  bool receives() const { return role.receiver.state == ReceiverState::Receiving; }
  bool connects() const;
  std::optional<Error> apply_error() const { return role.applier_stopped(); }
  bool applier_runs() const { return applies && !apply_error(); }
  std::optional<uint64_t> seconds_behind() const;
  std::optional<uint64_t> remaining_delay() const;
  std::string applier_state() const;
  std::string until_condition() const;
  struct Place {
    std::string file;
    uint64_t position = 0;
  };
  Place read_place() const;
  Place executed_place() const;
  std::string source_uuid() const;
  std::string assigns_gtids_by() const;
  std::optional<std::string> assigns_gtids_of() const;

  sql::NamedValues connection_configuration() const;
  sql::NamedValues connection_status() const;
  sql::NamedValues applier_status() const;
  std::vector<sql::NamedValues> worker_status() const;
  sql::NamedValues worker_status(uint64_t number, const binlog::AheadWorker& worker) const;
};

}  // namespace commitd::replication

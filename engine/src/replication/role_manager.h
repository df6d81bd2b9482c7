// The server's role: obeys the control statements of engine/CONTROL.md, and switches the commit pipeline, the
// dump streams and the receiver accordingly. Exists before there is a data directory's worth of log; attach()
// gives it the pipeline.
//
// Invariants:
//  * A promise (epoch, role, quorum) is durable before anything is done under it and before the statement
//  answers.
//  * At most one of the receiver and the dump service is active, and local commits are open only on a master
//    whose log, its epoch transaction included, is acknowledged and applied, or on a standalone server that
//    has applied all that it once received. No row lock and no table id protects what is still on its way
//    into the engine.
//  * A server that has promised an epoch syncs every group: what it acknowledges survives a loss of power.
//  * When FENCE has answered, the log does not grow and no acknowledgement leaves or counts.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/mutex.h"
#include "commit/commit_pipeline.h"
#include "replication/ack_tracker.h"
#include "replication/apply_gate.h"
#include "replication/dump_service.h"
#include "replication/lag_throttle.h"
#include "replication/read_only.h"
#include "replication/receiver.h"
#include "replication/replica_view.h"
#include "replication/role.h"
#include "replication/role_state.h"
#include "replication/role_view.h"
#include "replication/signal.h"
#include "replication/source_lease.h"
#include "replication/standalone_semisync.h"
#include "runtime/reactor.h"
#include "sql/instance_control.h"

namespace commitd::plugins {
class Observers;
class Registry;
}  // namespace commitd::plugins

namespace commitd::replication {

struct ReplicationContext {
  FileSystem* fs = nullptr;
  std::string state_path;  // DATADIR/role.state
  uint32_t server_id = 0;
  Uuid server_uuid;
  std::string version;
  uint16_t port = 0;          // told to the source
  bool require_role = false;  // --require-role
  std::shared_ptr<SemisyncSettings> semisync = std::make_shared<SemisyncSettings>();
  std::shared_ptr<LagLimit> max_replica_lag = std::make_shared<LagLimit>(0);
  std::shared_ptr<ReadOnlyWish> read_only = std::make_shared<ReadOnlyWish>();
  sql::ReplicationFilter filter = {};  // --replicate-…
  bool log_replica_updates = true;     // false: what is received is in no log for others
  plugins::Observers* observers = nullptr;
  Reactor* reactor = nullptr;  // where the receiver and what goes on in the background live
  // Makes the data directory, opens log and engine, and calls attach().
  std::function<Task<Status>()> initialize;
  // For the status row; may be empty.
  std::function<Surroundings()> surroundings;
  // Ends the sessions of clients (not the operator's, not readers of the log) after a demotion.
  std::function<Task<void>()> close_client_sessions;
};

class RoleManager final : public sql::InstanceControl {
 public:
  explicit RoleManager(ReplicationContext context);
  ~RoleManager() override;

  // --- start-up ---
  // Reads the durable state; before the log is opened.
  Status load();
  uint64_t gno_floor() const;
  // The first file of the own log that says where a server stands which follows by file and position.
  std::optional<uint32_t> first_log_of_stand() const;
  // What a start applies of the log, `acknowledged` being what that says of itself; nullopt: all of it.
  std::optional<LogPosition> apply_limit(LogPosition acknowledged) const;
  // True when the log's unacknowledged tail must wait for a role: replay only up to what is known to be
  // acknowledged.
  bool starts_undecided() const;
  // A server that stands alone can do without the binary log.
  bool needs_log() const;
  // The pipeline is there and replayed; before its start(). Takes up the role of a start: undecided or
  // standalone.
  void attach(binlog::CommitPipeline& pipeline);
  // Ends receiver and dump streams; before the pipeline's stop().
  Task<void> shut_down();
  // Of a master, before that: waits for its acknowledgements, for so long at most.
  Task<void> hand_over_before_end(std::chrono::milliseconds timeout);

  DumpService& dumps() { return dumps_; }
  // The semisync plugins, which INSTALL PLUGIN finds under MySQL's names.
  void link_plugins(plugins::Registry& registry);

  // Both of read_only and super_read_only, outside of a cluster. When it returns and `super` is on, nothing
  // local that is not committed yet will be.
  void set_read_only(bool read_only, bool super);
  // A variable of semisync was SET.
  void semisync_changed() { semisync_->settings_changed(); }
  void max_replica_lag_changed() { lag_throttle_->limit_changed(); }
  // What is in force: in a cluster what the role statements say.
  SemisyncPolicy semisync_policy() const;

  Role role() const;
  // Why this server does not serve its role now; nullopt when it does (/readyz).
  std::optional<std::string> not_ready() const;

  // --- sql::InstanceControl ---
  Task<Status> initialize() override;
  Task<Status> fence(uint64_t epoch) override;
  Task<Status> promote(uint64_t epoch, sql::QuorumRequest request) override;
  Task<Status> follow(uint64_t epoch, sql::FollowTarget target) override;
  Task<Status> set_quorum(uint64_t epoch, uint64_t version, sql::QuorumRequest request) override;
  Task<Status> hand_over(uint64_t epoch, std::chrono::milliseconds timeout) override;
  Task<Status> change_source(SourceChange change) override;
  Task<Result<bool>> start_replica(sql::ReplicaThreads threads,
                                   std::optional<sql::ApplyUntil> until) override;
  Task<Status> stop_replica(sql::ReplicaThreads threads) override;
  Task<Status> reset_replica(bool all) override;
  Task<Status> change_filter(std::function<void(sql::ReplicationFilter&)> change,
                             std::vector<std::string> rules) override;
  std::vector<sql::NamedValues> replication_rows(sql::ReplicationTable table) override;
  sql::NamedValues instance_row() override;
  sql::NamedValues replica_status() override;
  std::vector<sql::AttachedReplica> replicas() override { return dumps_.replicas(); }
  // CLONE INSTANCE, before it begins: error 3875 where this server's data must stay.
  Status check_data_may_go() const;
  // `decide` makes durable that other data takes the place of this server's. No role is given any more when
  // it has: what is acknowledged under one would be gone with the next start.
  Task<Status> give_up_data(std::function<Status()> decide);
  Status check_writable() override;
  bool only_privileged_may_write() const override;
  bool may_serve_clients() const override;
  // Why clients are sent away that only come for data; empty: they are not.
  std::string_view offline_for_clients() const;
  bool serves_under_epochs() const override { return starts_undecided(); }
  // RESET BINARY LOGS AND GTIDS: error 1290 on a server that belongs to a cluster or replicates.
  Task<Status> reset_logs();

 private:
  RoleView view() const;
  RoleView look() const;
  ReplicaView replica_view() const;
  uint64_t role_generation() const;

  Status require_pipeline() const;
  Status require_master() const;
  Status require_log() const;
  void log_was_left(const Error& why);
  Status require_no_epoch() const;
  Status require_every_group_synced() const;
  Status save(RoleState next);
  Status save_gno_floor(uint64_t floor);
  Status persist(RoleState next);
  RoleState state() const;

  // Ends what the present role does. Shown as undecided until that is true; then the role is `next`, which
  // serves nobody.
  Task<void> step_down(Role next);
  void begin_role(Role role);
  static Task<void> let_clients_in_again(RoleManager* self, uint64_t generation);
  void serve_standalone();
  void open_to_local_commits();
  void open_unless_super_read_only();
  void leave_standalone(Role next);
  bool is_super_read_only() const;
  Task<Status> serve_as_master(uint64_t epoch, Quorum quorum);
  void serve_as_replica(Receiver::Target target);
  void close_as_replica();
  void resume_replica();
  RoleState at_present_stand(RoleState state) const;
  void begin_place_series(RoleState& next) const;
  ApplyGate::Received received_so_far() const;
  Status save_stand(const SourceStand& stand);
  void hold_stand();
  Status settle_stand();
  ApplyRule apply_rule() const;
  ApplyRule rule_of(const RoleState& state) const;
  Task<Status> stop_threads_if(std::function<bool()> still, sql::ReplicaThreads threads);
  static Task<void> stop_applier_at_until(RoleManager* self, uint64_t applier_start);
  Status require_whole_log() const;
  sql::ReplicationFilter filter() const;
  Status let_go_if_nothing_waits();
  Task<Status> give_up_received();
  Status forget_applied_to();
  uint64_t close_for_handover();  // its number
  Task<bool> everything_is_acknowledged(uint64_t handover, Deadline deadline);
  uint64_t handover_in_force() const;
  // Both false: it is not that one that is in force.
  bool conclude_handover(uint64_t handover);
  bool take_handover_back(uint64_t handover);
  static Task<void> watch_lease(RoleManager* self);
  Task<Status> log_epoch_transaction(uint64_t epoch);
  static Task<void> open_when_visible(RoleManager* self, uint64_t generation);
  Task<void> wait_until_open(uint64_t generation);
  void register_metrics();
  bool waits_for_acknowledgements() const;
  StandaloneSemisync::Tally tally(double commits) const;

  const ReplicationContext context_;
  AsyncMutex control_;  // one role statement at a time
  AckTracker acknowledgements_;
  SourceLease lease_;
  bool lease_watched_ = false;  // under control_
  ReplicaProgress progress_;
  const std::shared_ptr<StandaloneSemisync> semisync_;
  DumpService dumps_;
  const std::shared_ptr<LagThrottle> lag_throttle_;
  const std::shared_ptr<ApplyGate> gate_;
  Receiver receiver_;
  std::atomic<binlog::CommitPipeline*> pipeline_{nullptr};
  std::atomic<bool> writable_{false};
  // A new master that does not show yet what the former one may have acknowledged, and shown.
  std::atomic<bool> catches_up_{false};
  // Clients may still be led here as to the master, and would stay when it is a replica.
  std::atomic<bool> former_master_{false};
  std::atomic<bool> data_goes_{false};

  // Around opening, and around closing by SET, which waits for the log; taken before mutex_, which those who
  // read metrics wait for.
  Mutex opening_mutex_;
  Mutex save_mutex_;  // around writing the role file: the receiver may do it, too
  std::unique_ptr<binlog::Log::Hold> stand_hold_ ABSL_GUARDED_BY(save_mutex_);
  mutable Mutex mutex_;
  RoleState state_ ABSL_GUARDED_BY(mutex_);
  Role role_ ABSL_GUARDED_BY(mutex_) = Role::Uninitialized;
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) =
      0;  // of roles: what was started under an older one must not act any more
  // Of a master that takes no more writes: the HANDOVER that said so last. 0: there is none.
  uint64_t handover_ ABSL_GUARDED_BY(mutex_) = 0, handovers_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t log_epoch_before_ ABSL_GUARDED_BY(mutex_) = 0, gno_before_ ABSL_GUARDED_BY(mutex_) =
                                                              0;  // when the present mastership began
  sql::FollowTarget source_ ABSL_GUARDED_BY(mutex_);
  sql::ReplicationFilter filter_ ABSL_GUARDED_BY(mutex_);
  const std::shared_ptr<FilterRecord> filter_record_;
  // Of the applier's latest start; gone with a restart of the server, as in MySQL.
  std::optional<sql::ApplyUntil> until_ ABSL_GUARDED_BY(mutex_);
  uint64_t applier_starts_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace commitd::replication

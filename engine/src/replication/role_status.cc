// What RoleManager shows: rows, readiness and metrics.
#include "binlog/event_writer.h"
#include "observe/metrics.h"
#include "replication/commit_time.h"
#include "replication/role_manager.h"

namespace commitd::replication {

namespace {

// The relay log as it is shown: up to where it is applied, and how much of it there is.
struct RelayLog {
  std::string file;
  uint64_t position = 0, bytes = 0;
};

// Where the own log is the relay log, what is not applied yet is what there is of it.
RelayLog own_log_as_relay_log(const binlog::Log& log, LogPosition applied, LogPosition end) {
  return {log.file_name(applied.file), applied.offset, log.bytes_between(applied, end)};
}

// The engine may stand in the binary log, in front of all that was received or behind it.
RelayLog separate_relay_log(const binlog::Log& log, LogPosition applied) {
  RelayLog shown;
  const auto files = log.files(binlog::LogKind::Relay);
  if (!files.ok()) return shown;
  for (const binlog::LogFileInfo& file : *files) {
    shown.bytes += file.size;
    if (file.number <= applied.file || shown.file.empty()) {
      shown.file = file.name;
      shown.position = file.number == applied.file  ? applied.offset
                       : file.number < applied.file ? file.size
                                                    : binlog::kFileMagic.size();
    }
  }
  return shown;
}

}  // namespace

// What is shown belongs to one role: an election trusts the row.
RoleView RoleManager::view() const {
  for (;;) {
    const uint64_t before = role_generation();
    RoleView view = look();
    if (role_generation() == before) return view;
  }
}

uint64_t RoleManager::role_generation() const {
  MutexLock lock(mutex_);
  return generation_;
}

RoleView RoleManager::look() const {
  RoleView view;
  view.server_uuid = context_.server_uuid;
  view.server_id = context_.server_id;
  view.version = context_.version;
  view.super_read_only = is_super_read_only();
  view.writable = writable_ && !view.super_read_only;
  view.receiver = receiver_.report();
  {
    MutexLock lock(mutex_);
    view.role = role_;
    view.epoch = state_.epoch;
    view.source = source_.host.empty() ? state_.source : source_;
    view.log_epoch_before = log_epoch_before_;
    view.gno_before = gno_before_;
    view.handed_over = handover_ != 0;
  }
  // A replica that can neither follow nor be cut back serves nobody until a person has looked at it.
  if (view.role == Role::Replica && view.receiver.state == ReceiverState::Diverged) view.role = Role::Fenced;
  view.acknowledgements = acknowledgements_.snapshot([this, &view] {
    if (binlog::CommitPipeline* pipeline = pipeline_.load()) view.log = pipeline->state();
    return view.log.acknowledged_end;
  });
  // It goes on receiving, and nothing of it arrives.
  if (const auto& waits = view.log.received_waits; waits && !view.receiver.error) {
    view.receiver.error = waits->why;
    view.receiver.error_at = waits->since;
  }
  if (!semisync_->blocks_without_readers()) view.acknowledgements.active = false;
  view.refuses_commits = semisync_->refuses_commits();
  view.may_serve_clients = may_serve_clients();
  view.offline = offline_for_clients();
  return view;
}

sql::NamedValues RoleManager::instance_row() {
  RoleView now = view();
  if (context_.surroundings) now.surroundings = context_.surroundings();
  return now.instance_row();
}

ReplicaView RoleManager::replica_view() const {
  ReplicaView shown;
  shown.role = view();
  shown.now = now_microseconds();
  shown.rule = gate_->rule();
  shown.filter = filter();
  shown.filters = filter_record_->rows(shown.filter);
  {
    MutexLock lock(mutex_);
    shown.until = until_;
    const bool drains = role_ == Role::Standalone && shown.role.log.unapplied > 0 && !shown.rule.held;
    shown.applies = drains || (role_ == Role::Replica && (state_.epoch > 0 || state_.start_applier));
  }
  binlog::CommitPipeline* pipeline = pipeline_.load();
  if (pipeline == nullptr) return shown;
  const LogPosition applied = pipeline->applied_end();
  gate_->trim_received();
  const ReceivedQueue& received = gate_->received();
  shown.next = received.next();
  shown.last_applied = received.last_applied();
  shown.newest = received.newest();
  shown.stand = at_present_stand(state()).stand();
  shown.workers = pipeline->applier_workers();
  shown.apply_error_at = gate_->note_error();
  const RelayLog relay = context_.log_replica_updates
                             ? own_log_as_relay_log(pipeline->log(), applied, pipeline->durable_end())
                             : separate_relay_log(pipeline->log(), applied);
  shown.relay_file = relay.file;
  shown.relay_position = relay.position;
  shown.relay_bytes = relay.bytes;
  return shown;
}

sql::NamedValues RoleManager::replica_status() {
  return replica_view().status();
}
std::vector<sql::NamedValues> RoleManager::replication_rows(sql::ReplicationTable table) {
  return replica_view().rows(table);
}
std::optional<std::string> RoleManager::not_ready() const {
  return view().not_ready();
}

namespace {

// The pipeline measures each local commit's wait for acknowledgements; semisync's classic counters are its
// sum and its count.
const observe::Histogram& acknowledgement_waits() {
  static auto& waits =
      observe::histogram("commitd_commit_stage_seconds",
                         "Time transactions spend in the stages of the commit.", {{"stage", "ack"}});
  return waits;
}

double count_of(const observe::Histogram& histogram) {
  double count = 0;
  for (int i = 0; i <= observe::Histogram::kBuckets; ++i) count += static_cast<double>(histogram.bucket(i));
  return count;
}

}  // namespace

bool RoleManager::waits_for_acknowledgements() const {
  return semisync_->is_on();
}

StandaloneSemisync::Tally RoleManager::tally(double commits) const {
  return semisync_->tally(static_cast<uint64_t>(commits));
}

void RoleManager::register_metrics() {
  acknowledgement_waits();  // looked up now: callbacks run under the registry's lock and must not look up
                            // metrics
  const auto gauge = [](const char* name, const char* help, std::function<double()> read,
                        const observe::Labels& labels = {}) {
    observe::callback("gauge", name, help, labels, std::move(read));
  };
  for (Role one : kAllRoles) {
    gauge("commitd_role", "1 for the role this server has.",
          [this, one] { return view().role == one ? 1.0 : 0.0; }, {{"role", std::string(role_name(one))}});
  }
  gauge("commitd_epoch", "The epoch this server has promised.",
        [this] { return static_cast<double>(state().epoch); });
  gauge("commitd_writes_blocked", "1 when a write would wait or be refused now.",
        [this] { return view().writes_blocked() ? 1.0 : 0.0; });
  gauge("commitd_semisync_waiters", "Transactions waiting for acknowledgements.",
        [this] { return static_cast<double>(view().ack_waiting()); });
  gauge("commitd_semisync_clients", "Members attached and acknowledging.",
        [this] { return static_cast<double>(view().acknowledgements.attached_voters.size()); });
  gauge("commitd_semisync_wait_count", "Acknowledgements a commit waits for.",
        [this] { return static_cast<double>(view().acknowledgements.quorum.wait_count); });
  gauge("commitd_semisync_on", "1 while commits wait for acknowledgements.",
        [this] { return waits_for_acknowledgements() ? 1.0 : 0.0; });
  gauge("commitd_replica_acknowledges", "1 while this server acknowledges to a source.",
        [this] { return view().receiver.acknowledges ? 1.0 : 0.0; });
  const observe::Histogram& waits =
      acknowledgement_waits();  // not in the callbacks: a scrape holds the registry
  observe::callback("counter", "commitd_semisync_tx_waits_total", "Commits that waited for acknowledgements.",
                    {}, [&waits] { return count_of(waits); });
  observe::callback("counter", "commitd_semisync_tx_wait_seconds_total",
                    "Time commits waited for acknowledgements.", {},
                    [&waits] { return static_cast<double>(waits.sum_ns()) * 1e-9; });
  semisync_->count_commits_by([&waits] { return static_cast<uint64_t>(count_of(waits)); });
  const auto counted = [](const char* name, const char* help, std::function<double()> read) {
    observe::callback("counter", name, help, {}, std::move(read));
  };
  counted("commitd_semisync_yes_tx_total", "Commits that were acknowledged.",
          [this, &waits] { return static_cast<double>(tally(count_of(waits)).yes); });
  counted("commitd_semisync_no_tx_total", "Commits that were not waited for, because too few acknowledged.",
          [this, &waits] { return static_cast<double>(tally(count_of(waits)).no); });
  counted("commitd_semisync_given_up_total", "Times that acknowledgements were given up.",
          [this] { return static_cast<double>(semisync_->times_given_up()); });
  counted("commitd_throttle_waits_total", "Commits that waited for replicas to catch up.",
          [this] { return static_cast<double>(lag_throttle_->waits().begun); });
  counted("commitd_throttle_wait_seconds_total", "Time commits waited for replicas to catch up.",
          [this] { return static_cast<double>(lag_throttle_->waits().nanoseconds) * 1e-9; });
  gauge("commitd_throttle_waiting", "Commits that wait for replicas to catch up.",
        [this] { return static_cast<double>(lag_throttle_->waits().now); });
  gauge("commitd_throttle_bytes_per_second", "The rate that writers are slowed to; 0: they are not.",
        [this] { return lag_throttle_->shown().bytes_per_second; });
  gauge("commitd_throttle_replica_lag_seconds",
        "How far the slowest replica is behind that writers are slowed for.",
        [this] { return lag_throttle_->shown().lag; });
  gauge("commitd_throttle_replicas", "Replicas that writers are slowed for when they fall behind.",
        [this] { return static_cast<double>(lag_throttle_->shown().counted); });
  gauge("commitd_replica_unapplied_transactions",
        "Transactions in the log that the engine does not show yet.",
        [this] { return static_cast<double>(view().log.unapplied); });
  gauge("commitd_replica_seconds_since_heartbeat",
        "Seconds since the source was last heard; -1 = never, or no source.",
        [this] { return view().seconds_since_heartbeat().value_or(-1); });
}

}  // namespace commitd::replication

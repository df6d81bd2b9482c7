#include "replication/role_manager.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/check.h"
#include "base/defects.h"
#include "base/error_codes.h"
#include "replication/commit_time.h"
#include "replication/epoch_rules.h"
#include "replication/semisync_plugins.h"

namespace commitd::replication {
namespace {

using binlog::CommitPipeline;
using Gate = CommitPipeline::Gate;

// Of a former master that has become a replica. kube-proxy changes where connections go within a second.
constexpr auto kUntilClientsAreLedElsewhere = std::chrono::seconds(2);

Error read_only() {
  return make_error(
      er::kOptionPreventsStatement,
      "The MySQL server is running with the --super-read-only option so it cannot execute this statement");
}

Error still_applying(const CommitPipeline& pipeline, bool held) {
  const CommitPipeline::State now = pipeline.state();
  if (held) {
    return make_error(
        er::kOptionPreventsStatement,
        "The server takes no writes: {} received transactions are not applied, because the applier was "
        "stopped in front of them. START REPLICA SQL_THREAD goes on, RESET REPLICA gives them up",
        now.unapplied);
  }
  if (now.apply_error) {
    return make_error(
        er::kOptionPreventsStatement,
        "The server takes no writes: {} received transactions are not applied, because the applier has "
        "stopped. START REPLICA tries again, see SHOW REPLICA STATUS; the error is: {}",
        now.unapplied, now.apply_error->message);
  }
  return make_error(er::kOptionPreventsStatement,
                    "The server takes no writes yet: {} received transactions are still to be applied",
                    now.unapplied);
}

// As MySQL's dump thread says it.
Error log_is_not_open() {
  return make_error(er::kSourceFatalReadingBinlog, "Binary log is not open");
}

Error outcome_unknown() {
  return make_error(er::kServerShutdown,
                    "The server was demoted while the transaction waited for acknowledgements: whether it is "
                    "committed is decided by the "
                    "new master");
}

}  // namespace

RoleManager::RoleManager(ReplicationContext context)
    : context_(std::move(context)),
      acknowledgements_([this](LogPosition up_to) { pipeline_.load()->acknowledge(up_to); },
                        [this] { semisync_->readers_changed(); }),
      progress_([this](LogPosition from, LogPosition to) {
        return pipeline_.load()->log().bytes_between(from, to);
      }),
      semisync_(std::make_shared<StandaloneSemisync>(StandaloneSemisync::Environment{
          &acknowledgements_, context_.reactor, context_.semisync, [this] { return writable_.load(); },
          [this] { open_to_local_commits(); }})),
      dumps_({[this] { return pipeline_.load(); }, &acknowledgements_, &lease_, &progress_,
              context_.server_id, context_.server_uuid, context_.observers}),
      lag_throttle_(std::make_shared<LagThrottle>(LagThrottle::Environment{
          context_.reactor, context_.max_replica_lag, &progress_, [this] { dumps_.look_again(); }})),
      gate_(std::make_shared<ApplyGate>(context_.reactor)),
      filter_(context_.filter),
      filter_record_(std::make_shared<FilterRecord>(now_microseconds())) {
  register_metrics();
}

RoleManager::~RoleManager() = default;

void RoleManager::link_plugins(plugins::Registry& registry) {
  link_in_semisync(
      registry, acknowledgements_,
      {[this] { return semisync_policy().enabled; }, [this] { return receiver_.report().acknowledges; }});
}

Status RoleManager::load() {
  auto loaded = load_role_state(*context_.fs, context_.state_path);
  if (!loaded) return std::move(loaded).error();
  {
    MutexLock lock(mutex_);
    state_ = std::move(*loaded);
  }
  return starts_undecided() ? require_whole_log() : Status{};
}

uint64_t RoleManager::gno_floor() const {
  return state().gno_floor;
}

// A server that has once served under epochs never decides for itself again.
bool RoleManager::starts_undecided() const {
  return context_.require_role || state().epoch > 0;
}

bool RoleManager::needs_log() const {
  const RoleState now = state();
  return starts_undecided() || now.start_replica || now.start_applier || now.apply_held;
}

void RoleManager::attach(CommitPipeline& pipeline) {
  pipeline_ = &pipeline;
  keep_room_for_role_state(*context_.fs, context_.state_path);
  pipeline.on_log_left([this](const Error& why) { log_was_left(why); });
  if (auto saved = let_go_if_nothing_waits(); !saved.ok())
    spdlog::error("the role file cannot be written: {}", saved.error().message);
  if (auto found = gate_->attach(pipeline, apply_rule(), received_so_far()); !found.ok())
    spdlog::error("what was received and is not applied cannot be read: {}", found.error().message);
  if (auto saved = settle_stand(); !saved.ok())
    spdlog::error("the role file cannot be written: {}", saved.error().message);
  lag_throttle_->begin(pipeline);
  if (starts_undecided()) {
    pipeline.close_to_local_commits(read_only());
    pipeline.set_gate(Gate::Gated);
    former_master_ = state().grant == Grant::Master;
    begin_role(Role::Undecided);
    return;
  }
  if (state().start_replica || state().start_applier) {
    resume_replica();
  } else {
    serve_standalone();
  }
}

Task<void> RoleManager::shut_down() {
  AsyncMutex::Guard guard = co_await control_.lock();
  co_await dumps_.close(make_error(er::kSourceFatalReadingBinlog, "Server shutdown in progress"));
  co_await receiver_.stop();
  lag_throttle_->end();
  if (auto saved = settle_stand(); !saved.ok())
    spdlog::error("the role file cannot be written: {}", saved.error().message);
}

Role RoleManager::role() const {
  MutexLock lock(mutex_);
  return role_;
}

RoleState RoleManager::state() const {
  MutexLock lock(mutex_);
  return state_;
}

Status RoleManager::require_pipeline() const {
  if (pipeline_.load() != nullptr) return {};
  return make_error(er::kOptionPreventsStatement,
                    "This server has no data yet: ALTER INSTANCE INITIALIZE comes first");
}

// Its own log is what a server has of its source, what it acknowledges, and what its replicas get.
Status RoleManager::require_log() const {
  COMMITD_RETURN_IF_ERROR(require_pipeline());
  if (pipeline_.load()->logging()) return {};
  return make_error(
      er::kOptionPreventsStatement,
      "The MySQL server is running with the --skip-log-bin option so it cannot execute this statement");
}

// Readers would wait for ever for what comes no more. MySQL's words, so that who looks for them finds them.
void RoleManager::log_was_left(const Error& why) {
  spdlog::error(
      "Could not use the binary log for logging (error {}: {}). Turning logging off for the whole duration "
      "of the MySQL server process. To turn it on again: fix the cause, shutdown the MySQL server and "
      "restart it. Replicas miss every transaction from now on and must be provisioned anew",
      why.code, why.message);
  dumps_.refuse(log_is_not_open());
}

// Before the first epoch is promised; afterwards neither an option nor SET can change it.
Status RoleManager::require_every_group_synced() const {
  CommitPipeline& pipeline = *pipeline_.load();
  if (const uint64_t period = pipeline.options().settings->sync_binlog; period != 1) {
    return make_error(
        er::kOptionPreventsStatement,
        "sync_binlog is {}: a server that promises an epoch makes every group durable before it "
        "acknowledges it. SET PERSIST sync_binlog = 1 first",
        period);
  }
  return pipeline.sync();
}

Status RoleManager::require_no_epoch() const {
  COMMITD_RETURN_IF_ERROR(require_pipeline());
  if (!starts_undecided()) return {};
  return make_error(er::kOptionPreventsStatement,
                    "This server gets its role by ALTER INSTANCE … EPOCH; use ALTER INSTANCE FOLLOW to "
                    "replicate from another server");
}

Status RoleManager::save(RoleState next) {
  MutexLock saving(save_mutex_);
  if (data_goes_) return make_error(er::kServerShutdown, "Server shutdown in progress");
  const RoleState now = state();
  // What the receiver may have saved meanwhile.
  next.gno_floor = std::max(next.gno_floor, now.gno_floor);
  if (next.place_series == now.place_series && next.stand_as_of < now.stand_as_of)
    next.set_stand(now.stand());
  return persist(std::move(next));
}

// Called by the receiver, beside the role statements.
Status RoleManager::save_gno_floor(uint64_t floor) {
  MutexLock saving(save_mutex_);
  RoleState next = state();
  next.gno_floor = std::max(next.gno_floor, floor);
  return persist(std::move(next));
}

Status RoleManager::persist(RoleState next) {
  COMMITD_CHECK(keeps_promises(state(), next), "epoch {}, {} would become epoch {}, {}", state().epoch,
                grant_name(state().grant), next.epoch, grant_name(next.grant));
  COMMITD_RETURN_IF_ERROR(save_role_state(*context_.fs, context_.state_path, next));
  MutexLock lock(mutex_);
  state_ = std::move(next);
  return {};
}

Status RoleManager::check_writable() {
  if (!writable_.load(std::memory_order_acquire)) {
    if (role() == Role::Standalone) return still_applying(*pipeline_.load(), gate_->rule().held);
    return read_only();
  }
  if (is_super_read_only()) return read_only();
  return {};
}

bool RoleManager::only_privileged_may_write() const {
  return context_.read_only->read_only.load() && !starts_undecided();
}

bool RoleManager::is_super_read_only() const {
  return context_.read_only->super_read_only.load() && !starts_undecided();
}

void RoleManager::set_read_only(bool only, bool super) {
  context_.read_only->read_only = only;
  context_.read_only->super_read_only = super;
  {
    MutexLock opening(opening_mutex_);
    if (role() != Role::Standalone) return;
    if (super) {
      pipeline_.load()->close_to_local_commits(read_only());
    } else if (writable_) {
      pipeline_.load()->open_to_local_commits();
    }
  }
  semisync_->settings_changed();
}

// Under opening_mutex_.
void RoleManager::open_unless_super_read_only() {
  if (!is_super_read_only()) pipeline_.load()->open_to_local_commits();
}

// Semisync lets new commits in again: those that the role lets in.
void RoleManager::open_to_local_commits() {
  MutexLock opening(opening_mutex_);
  if (writable_) open_unless_super_read_only();
}

// Behind it, no SET opens or closes anything any more.
void RoleManager::leave_standalone(Role next) {
  MutexLock opening(opening_mutex_);
  writable_ = false;
  begin_role(next);
}

void RoleManager::begin_role(Role role) {
  MutexLock lock(mutex_);
  role_ = role;
  handover_ = 0;
  ++generation_;
  spdlog::info("role: {}, epoch {}", role_name(role), state_.epoch);
}

Task<void> RoleManager::step_down(Role next) {
  CommitPipeline& pipeline = *pipeline_.load();
  const Role before = role();
  leave_standalone(Role::Undecided);
  co_await gate_->set({});  // the delay of a replica would keep a failover waiting
  semisync_->end();
  acknowledgements_.stop();
  pipeline.close_to_local_commits(read_only());
  pipeline.set_gate(Gate::Gated);
  co_await dumps_.close(
      make_error(er::kSourceFatalReadingBinlog, "This server is {} and serves no log", role_name(next)));
  co_await receiver_.stop();
  pipeline.fail_waiters(outcome_unknown());
  if (before == Role::Master || before == Role::Standalone) {
    co_await context_.close_client_sessions();
    former_master_ = true;
    co_await context_.close_client_sessions();  // who has come meanwhile
  }
  // Not before: to who is still connected it would be the master.
  lease_.end();
  catches_up_ = false;
  if (next != Role::Undecided) begin_role(next);
}

Task<Status> RoleManager::initialize() {
  AsyncMutex::Guard guard = co_await control_.lock();
  if (pipeline_.load() != nullptr) {
    co_return make_error(er::kAlreadyInitialized,
                         "This server has data already; it is initialized only once");
  }
  co_return co_await context_.initialize();
}

Task<Status> RoleManager::fence(uint64_t epoch) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_log());
  COMMITD_CO_RETURN_IF_ERROR(require_every_group_synced());
  COMMITD_CO_RETURN_IF_ERROR(require_whole_log());
  RoleState next = state();
  Result<Verdict> verdict = judge_fence(next, epoch);
  if (!verdict.ok()) co_return std::move(verdict).error();
  if (*verdict == Verdict::Grant) {
    next.epoch = epoch;
    next.grant = Grant::Fenced;
    next.apply_held = false;
    COMMITD_CO_RETURN_IF_ERROR(save(std::move(next)));
  }
  if (!has_defect("skip-fence")) co_await step_down(Role::Fenced);
  co_return Status{};
}

Task<Status> RoleManager::promote(uint64_t epoch, sql::QuorumRequest request) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_log());
  COMMITD_CO_RETURN_IF_ERROR(require_every_group_synced());
  COMMITD_CO_RETURN_IF_ERROR(require_whole_log());
  Quorum quorum{0, request.wait_count, sorted_uuids(std::move(request.members)), request.terms};
  if (std::binary_search(quorum.members.begin(), quorum.members.end(), context_.server_uuid)) {
    co_return make_error(er::kWrongArguments,
                         "MEMBERS names this server itself; only the others acknowledge");
  }
  RoleState next = state();
  Result<Verdict> verdict = judge_promote(next, epoch, quorum);
  if (!verdict.ok()) co_return std::move(verdict).error();
  if (*verdict == Verdict::SameAgain) {
    if (role() == Role::Master) {
      take_handover_back(handover_in_force());
      co_return Status{};
    }
    quorum = next.quorum;  // the version, too, is still that of this epoch
  } else {
    next.epoch = epoch;
    next.grant = Grant::Master;
    next.quorum = quorum;
    next.source = {};
    next.apply_held = false;
    COMMITD_CO_RETURN_IF_ERROR(save(std::move(next)));
  }
  co_await step_down(Role::Fenced);
  co_return co_await serve_as_master(epoch, std::move(quorum));
}

Task<Status> RoleManager::follow(uint64_t epoch, sql::FollowTarget target) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_log());
  COMMITD_CO_RETURN_IF_ERROR(require_every_group_synced());
  COMMITD_CO_RETURN_IF_ERROR(require_whole_log());
  if (target.source_uuid == context_.server_uuid || target.source_uuid.is_nil()) {
    co_return make_error(er::kWrongArguments, "SOURCE_UUID must be the UUID of another server");
  }
  RoleState next = state();
  Result<Verdict> verdict = judge_follow(next, epoch, target);
  if (!verdict.ok()) co_return std::move(verdict).error();
  const ReceiverReport receiver = receiver_.report();
  if (*verdict == Verdict::SameAgain && receiver.state == ReceiverState::Diverged) co_return *receiver.error;
  next.epoch = epoch;
  next.grant = Grant::Replica;
  next.source = target;
  next.source.password.clear();
  next.start_replica = next.start_applier = next.apply_held = false;
  COMMITD_CO_RETURN_IF_ERROR(save(std::move(next)));
  co_await step_down(Role::Undecided);
  pipeline_.load()->retry_apply();
  serve_as_replica({std::move(target), epoch});
  if (former_master_) context_.reactor->spawn(let_clients_in_again(this, role_generation()));
  co_return Status{};
}

Task<void> RoleManager::let_clients_in_again(RoleManager* self, uint64_t generation) {
  co_await sleep_until(Clock::now() + kUntilClientsAreLedElsewhere);
  if (self->role_generation() == generation) self->former_master_ = false;
}

std::string_view RoleManager::offline_for_clients() const {
  if (catches_up_.load(std::memory_order_acquire))
    return "it has just become the master, and does not show yet all that the former one may have shown";
  if (former_master_.load(std::memory_order_acquire))
    return "it was the master a moment ago, and clients may still be led here for that";
  return {};
}

void RoleManager::close_as_replica() {
  leave_standalone(Role::Replica);
  semisync_->end();
  pipeline_.load()->close_to_local_commits(read_only());
}

// As the last START and STOP REPLICA have left it.
void RoleManager::resume_replica() {
  close_as_replica();
  if (state().start_replica) serve_as_replica({state().source, std::nullopt});
}

void RoleManager::serve_as_replica(Receiver::Target target) {
  begin_role(Role::Replica);
  {
    MutexLock lock(mutex_);
    source_ = target.source;
    source_.password.clear();
  }
  Receiver::Environment environment;
  environment.pipeline = pipeline_.load();
  environment.reactor = context_.reactor;
  environment.server_id = context_.server_id;
  environment.port = context_.port;
  environment.server_uuid = context_.server_uuid;
  environment.gate = gate_;
  if (auto filter = this->filter(); !filter.empty())
    environment.filter = std::make_shared<FilterRules>(std::move(filter), filter_record_);
  environment.observers = context_.observers;
  environment.acknowledges = semisync_policy().replica_enabled;
  environment.save_gno_floor = [this](uint64_t floor) { return save_gno_floor(floor); };
  if (!target.epoch) {
    environment.place_series = state().place_series;
    environment.stand = at_present_stand(state()).stand();
    environment.save_stand = [this](const SourceStand& stand) { return save_stand(stand); };
    hold_stand();
  }
  receiver_.start(std::move(environment), std::move(target));
}

void RoleManager::serve_standalone() {
  CommitPipeline& pipeline = *pipeline_.load();
  begin_role(Role::Standalone);
  if (gate_->rule().held) return dumps_.open(0);  // until START or RESET REPLICA
  semisync_->begin(pipeline);
  dumps_.open(0);
  if (!pipeline.logging()) dumps_.refuse(log_is_not_open());
  if (writable_) return;
  if (pipeline.state().unapplied > 0) {
    context_.reactor->spawn(open_when_visible(this, role_generation()));
    return;
  }
  pipeline.outdate_open_transactions();
  writable_ = true;  // first: a SET that comes now opens, if this does not
  open_to_local_commits();
}

SemisyncPolicy RoleManager::semisync_policy() const {
  SemisyncPolicy policy = context_.semisync->get();
  if (!starts_undecided()) return policy;
  policy = policy_of(state().quorum);
  if (role() != Role::Master) policy.enabled = false;
  return policy;
}

Task<Status> RoleManager::reset_logs() {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_no_epoch());
  if (role() != Role::Standalone) {
    co_return make_error(
        er::kOptionPreventsStatement,
        "This server is a replica: its GTIDs and its binary log say what it has of its source");
  }
  CommitPipeline& pipeline = *pipeline_.load();
  if (!pipeline.logging()) co_return binlog::no_binary_logging();
  COMMITD_CO_RETURN_IF_ERROR(pipeline.log().check_unread());
  COMMITD_CO_RETURN_IF_ERROR(forget_applied_to());
  semisync_->end();
  acknowledgements_.stop();  // places in the old log would count as acknowledgements in the new one
  Status status = co_await pipeline.reset();
  gate_->log_was_reset();
  const RoleState now = this->state();
  gate_->begin_places(now.place_series, now.stand());
  serve_standalone();
  co_return status;
}

}  // namespace commitd::replication

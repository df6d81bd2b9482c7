// What the master of an epoch does: begins with an epoch transaction, opens when its log is visible, hands
// over, and answers clients only for as long as its lease holds.
#include <spdlog/spdlog.h>

#include "base/error_codes.h"
#include "replication/epoch_rules.h"
#include "replication/role_manager.h"

namespace commitd::replication {
namespace {

using binlog::CommitPipeline;

// Where nobody is waited for, everybody is heard.
std::chrono::milliseconds lease_of(const Quorum& quorum) {
  return quorum.wait_count == 0 ? std::chrono::milliseconds(0) : quorum.terms.lease;
}

Error handing_over() {
  return make_error(er::kOptionPreventsStatement,
                    "The MySQL server is running with the --super-read-only option so it cannot execute this "
                    "statement: its mastership is being handed over");
}

Error superseded() {
  return make_error(er::kStaleEpoch,
                    "The handover has not come to its end: meanwhile the server was given another role, or "
                    "its mastership back, or another HANDOVER was begun");
}

Error not_handed_over(std::chrono::milliseconds timeout) {
  return make_error(er::kQueryTimeout,
                    "Not everything that is logged was acknowledged within {} ms: nothing was handed over, "
                    "and the server takes writes again",
                    timeout.count());
}

}  // namespace

Task<Status> RoleManager::serve_as_master(uint64_t epoch, Quorum quorum) {
  {
    MutexLock lock(mutex_);
    log_epoch_before_ = pipeline_.load()->last_log_epoch();
    gno_before_ = pipeline_.load()->next_gno() - 1;
  }
  catches_up_ = true;
  former_master_ = false;
  begin_role(Role::Master);
  lease_.begin(lease_of(quorum));
  if (!std::exchange(lease_watched_, true)) context_.reactor->spawn(watch_lease(this));
  semisync_->begin(*pipeline_.load(), quorum);
  Status logged = co_await log_epoch_transaction(epoch);
  if (!logged.ok()) {
    co_await step_down(Role::Fenced);
    co_return logged;
  }
  acknowledgements_.announce_from(pipeline_.load()->durable_end());
  dumps_.open(epoch);
  context_.reactor->spawn(open_when_visible(this, role_generation()));
  co_return Status{};
}

namespace {

// An epoch transaction on its way; waits for acknowledgements long after PROMOTE has answered.
struct EpochTransaction {
  binlog::TransactionBuffer events{binlog::TransactionBuffer::Context{}};
  WriteSet writes;
  binlog::CommitRequest request;

  std::mutex mutex;
  std::optional<Error> error;

  std::optional<Error> failed() {
    std::lock_guard lock(mutex);
    return error;
  }
};

Task<void> commit_epoch_transaction(CommitPipeline& pipeline, std::shared_ptr<EpochTransaction> transaction) {
  Status status = co_await pipeline.commit(transaction->request);
  if (status.ok()) co_return;
  std::lock_guard lock(transaction->mutex);
  transaction->error = status.error();
}

}  // namespace

// Returns when the epoch transaction is durable in the own log.
Task<Status> RoleManager::log_epoch_transaction(uint64_t epoch) {
  constexpr auto kLook = std::chrono::milliseconds(100);
  CommitPipeline& pipeline = *pipeline_.load();
  if (pipeline.last_log_epoch() >= epoch) co_return Status{};  // a master that resumes has logged it before
  auto transaction = std::make_shared<EpochTransaction>();
  binlog::TransactionBuffer::Context origin;
  origin.server_id = context_.server_id;
  transaction->events.set_context(origin);
  transaction->events.set_epoch(epoch);
  transaction->events.finish(epoch);
  transaction->request.events = &transaction->events;
  transaction->request.writes = &transaction->writes;
  transaction->request.epoch = epoch;
  const LogPosition before = pipeline.durable_end();
  context_.reactor->spawn(commit_epoch_transaction(pipeline, transaction));
  while (pipeline.last_log_epoch() < epoch) {
    if (auto error = transaction->failed()) co_return *error;
    const Deadline deadline = Clock::now() + kLook;
    co_await pipeline.wait_beyond(before, CommitPipeline::Bound::Durable, deadline);
  }
  co_return Status{};
}

// A master's log is the truth once enough members hold all of it; and what any log holds must be visible
// before anybody writes on top of it.
Task<void> RoleManager::open_when_visible(RoleManager* self, uint64_t generation) {
  constexpr auto kLook = std::chrono::seconds(1);
  CommitPipeline& pipeline = *self->pipeline_.load();
  const GtidSet inherited = pipeline.gtid_logged();
  while (true) {
    const Deadline deadline = Clock::now() + kLook;
    const bool visible = co_await pipeline.wait_executed(inherited, deadline);
    MutexLock opening(self->opening_mutex_);
    MutexLock lock(self->mutex_);
    if (self->generation_ != generation || self->handover_ != 0 || pipeline.failure()) co_return;
    if (!visible) {
      if (Clock::now() < deadline) co_return;  // the pipeline has stopped
      continue;
    }
    pipeline.outdate_open_transactions();
    self->catches_up_ = false;
    self->writable_ = true;
    self->open_unless_super_read_only();
    spdlog::info("{}, epoch {}: accepts writes", role_name(self->role_), self->state_.epoch);
    co_return;
  }
}

Task<Status> RoleManager::set_quorum(uint64_t epoch, uint64_t version, sql::QuorumRequest request) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(require_pipeline());
  Quorum quorum{version, request.wait_count, sorted_uuids(std::move(request.members)), request.terms};
  RoleState next = state();
  Result<Verdict> verdict = judge_quorum(next, epoch, quorum);
  if (!verdict.ok()) co_return std::move(verdict).error();
  COMMITD_CO_RETURN_IF_ERROR(require_master());
  if (*verdict == Verdict::SameAgain) co_return Status{};
  next.quorum = quorum;
  COMMITD_CO_RETURN_IF_ERROR(save(std::move(next)));
  lease_.change(lease_of(quorum), Clock::now());
  semisync_->begin(*pipeline_.load(), quorum);
  dumps_.look_again();
  co_return Status{};
}

Status RoleManager::require_master() const {
  if (role() == Role::Master) return {};
  return make_error(er::kOptionPreventsStatement,
                    "This server is {}: only a serving master's quorum can be changed, or handed over",
                    role_name(role()));
}

// Others change roles meanwhile, and take the handover back: then it is not this one's to decide any more.
Task<Status> RoleManager::hand_over(uint64_t epoch, std::chrono::milliseconds timeout) {
  const Deadline deadline = Clock::now() + timeout;
  uint64_t handover = 0;
  {
    AsyncMutex::Guard guard = co_await control_.lock();
    COMMITD_CO_RETURN_IF_ERROR(require_pipeline());
    COMMITD_CO_RETURN_IF_ERROR(judge_handover(state(), epoch));
    COMMITD_CO_RETURN_IF_ERROR(require_master());
    handover = close_for_handover();
  }
  const bool all = co_await everything_is_acknowledged(handover, deadline);
  if (all && conclude_handover(handover)) {
    spdlog::info("epoch {}: handed over", epoch);
    co_return Status{};
  }
  co_return take_handover_back(handover) ? not_handed_over(timeout) : superseded();
}

// Also by members of a master that had given up waiting for them: what it shows may be on no other server.
Task<bool> RoleManager::everything_is_acknowledged(uint64_t handover, Deadline deadline) {
  constexpr auto kLook = std::chrono::milliseconds(100);
  CommitPipeline& pipeline = *pipeline_.load();
  const GtidSet logged = pipeline.gtid_logged();
  const LogPosition end = pipeline.durable_end();
  while (handover_in_force() == handover) {
    const Deadline look = std::min<Deadline>(deadline, Clock::now() + kLook);
    const bool visible = co_await pipeline.wait_executed(logged, look);
    if (visible && acknowledgements_.is_held(end)) co_return true;
    const bool stopped = pipeline.failure() || (!visible && Clock::now() < look);
    if (stopped || Clock::now() >= deadline) co_return false;
    co_await sleep_until(look);
  }
  co_return false;
}

uint64_t RoleManager::handover_in_force() const {
  MutexLock lock(mutex_);
  return handover_;
}

uint64_t RoleManager::close_for_handover() {
  MutexLock opening(opening_mutex_);
  writable_ = false;
  pipeline_.load()->close_to_local_commits(handing_over());
  MutexLock lock(mutex_);
  return handover_ = ++handovers_;
}

// All is visible: reads, which go on, show it.
bool RoleManager::conclude_handover(uint64_t handover) {
  MutexLock lock(mutex_);
  if (handover_ != handover) return false;
  catches_up_ = false;
  return true;
}

bool RoleManager::take_handover_back(uint64_t handover) {
  uint64_t generation = 0;
  {
    MutexLock lock(mutex_);
    if (handover == 0 || handover_ != handover) return false;
    handover_ = 0;
    generation = generation_;
  }
  context_.reactor->spawn(open_when_visible(this, generation));
  return true;
}

Task<void> RoleManager::hand_over_before_end(std::chrono::milliseconds timeout) {
  if (role() != Role::Master) co_return;
  auto done = co_await hand_over(state().epoch, timeout);
  if (!done.ok()) spdlog::warn("the mastership ends without a handover: {}", done.error().message);
}

bool RoleManager::may_serve_clients() const {
  return !lease_.is_limited() || lease_.holds(Clock::now());
}

// For as long as the server runs: one waiter, whatever roles come and go.
Task<void> RoleManager::watch_lease(RoleManager* self) {
  bool held = true;
  for (;;) {
    const bool holds = self->may_serve_clients();
    if (holds != std::exchange(held, holds)) {
      if (holds) {
        spdlog::info("lease: clients are served again");
      } else {
        spdlog::warn(
            "lease: too few members are heard; another server may be the master: clients are not served");
        co_await self->context_.close_client_sessions();
        continue;
      }
    }
    co_await self->lease_.wait_for_change();
  }
}

}  // namespace commitd::replication

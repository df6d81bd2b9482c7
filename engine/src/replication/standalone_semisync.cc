#include "replication/standalone_semisync.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error_codes.h"

namespace commitd::replication {
namespace {

using binlog::CommitPipeline;
using Gate = CommitPipeline::Gate;

// An idle source is looked at as often as this, however short the timeout.
constexpr std::chrono::milliseconds kLeastLook{10};
constexpr std::chrono::milliseconds kSoon{1000};
constexpr std::chrono::milliseconds kAMoment{10};

Error too_few_acknowledge(uint32_t wanted) {
  return make_error(er::kRunHookError,
                    "Error on observer while running replication hook 'before_commit': {} replicas have to "
                    "acknowledge a transaction, and do not (commitd_semi_sync_on_timeout = error)",
                    wanted);
}

Error outcome_unknown(WaitPoint wait_point) {
  return make_error(
      er::kServerShutdown,
      "Too few replicas have acknowledged the transaction within rpl_semi_sync_source_timeout. It "
      "stays in the binary log, and {}",
      wait_point == WaitPoint::AfterSync ? "becomes visible once they have"
                                         : "is visible here; without this server it may be lost");
}

Gate gate_of(WaitPoint wait_point) {
  return wait_point == WaitPoint::AfterSync ? Gate::Gated : Gate::ShownFirst;
}

}  // namespace

void StandaloneSemisync::begin(CommitPipeline& pipeline) {
  begin_as(pipeline, std::nullopt);
}

void StandaloneSemisync::begin(CommitPipeline& pipeline, const Quorum& quorum) {
  begin_as(pipeline, quorum);
}

void StandaloneSemisync::begin_as(CommitPipeline& pipeline, std::optional<Quorum> quorum) {
  {
    MutexLock lock(mutex_);
    pipeline_ = &pipeline;
    quorum_ = std::move(quorum);
    apply();
  }
  changed_.set();
}

SemisyncPolicy policy_of(const Quorum& quorum) {
  SemisyncPolicy policy;
  policy.enabled = quorum.wait_count > 0;
  policy.wait_count = std::max<uint32_t>(quorum.wait_count, 1);
  policy.timeout = quorum.terms.timeout;
  policy.wait_no_replica = true;
  policy.on_timeout = quorum.terms.on_timeout;
  policy.wait_point = quorum.terms.wait_point;
  return policy;
}

SemisyncPolicy StandaloneSemisync::policy() const {
  return quorum_ ? policy_of(*quorum_) : environment_.settings->get();
}

void StandaloneSemisync::end() {
  MutexLock lock(mutex_);
  if (pipeline_ == nullptr) return;
  enter(State::Off);
  if (refuses_.exchange(false)) environment_.open_to_local_commits();
  environment_.acknowledgements->pause();
  pipeline_ = nullptr;
  quorum_.reset();
}

void StandaloneSemisync::settings_changed() {
  {
    MutexLock lock(mutex_);
    if (pipeline_ != nullptr) apply();
  }
  changed_.set();
}

void StandaloneSemisync::readers_changed() {
  if (listens_.load()) changed_.set();
}

bool StandaloneSemisync::is_on() const {
  return state_.load() == State::Waiting;
}

StandaloneSemisync::Tally StandaloneSemisync::tally(uint64_t commits) const {
  MutexLock lock(tally_mutex_);
  Tally result = tally_;
  if (state_ == State::Waiting) result.yes += commits - tallied_;
  if (state_ == State::GivenUp) result.no += commits - tallied_;
  return result;
}

void StandaloneSemisync::enter(State next) {
  MutexLock lock(tally_mutex_);
  const uint64_t commits = commits_();
  if (state_ == State::Waiting) tally_.yes += commits - tallied_;
  if (state_ == State::GivenUp) tally_.no += commits - tallied_;
  tallied_ = commits;
  state_ = next;
  listens_ = next == State::GivenUp || (next == State::Waiting && !policy().wait_no_replica);
}

// Stricter first: what is not acknowledged yet waits before anybody counts.
void StandaloneSemisync::apply() {
  if (refuses_.exchange(false)) environment_.open_to_local_commits();
  if (!policy().enabled || !pipeline_->logging()) {
    enter(State::Off);
    count();
    pipeline_->set_gate(Gate::Immediate);
    return;
  }
  enter(State::Waiting);
  pipeline_->set_gate(gate_of(policy().wait_point));
  count();
  if (!std::exchange(watched_, true)) environment_.reactor->spawn(watch(shared_from_this()));
}

// A cluster's members are known and shown also where nobody waits for them.
void StandaloneSemisync::count() {
  AckTracker& acknowledgements = *environment_.acknowledgements;
  if (quorum_) {
    acknowledgements.configure(AckTracker::Voters::Members, *quorum_);
  } else if (state_ == State::Off) {
    acknowledgements.pause();
  } else {
    acknowledgements.configure(AckTracker::Voters::Anybody, Quorum{0, policy().wait_count, {}});
  }
}

Task<void> StandaloneSemisync::watch(std::shared_ptr<StandaloneSemisync> self) {
  for (;;) {
    const Deadline next = self->look();
    co_await self->changed_.wait(next);
  }
}

// A commit that begins to wait behind this look cannot have waited for long at the next one.
Deadline StandaloneSemisync::look() {
  MutexLock lock(mutex_);
  if (state_ == State::Off || pipeline_ == nullptr) return kNoDeadline;
  const SemisyncPolicy policy = this->policy();
  if (state_ == State::GivenUp) {
    if (!has_caught_up(policy)) return kNoDeadline;
    if (refuses_ && pipeline_->has_unknown_outcomes()) return Clock::now() + kAMoment;
    resume(policy);
  }
  if (!environment_.is_writable()) return Clock::now() + kSoon;
  const auto waited = pipeline_->state().oldest_unacknowledged;
  const bool too_long =
      policy.timeout != SemisyncPolicy::kForEver && waited.count() > 0 && waited >= policy.timeout;
  const bool too_few =
      !policy.wait_no_replica && environment_.acknowledgements->attached() < policy.wait_count;
  if (policy.on_timeout != OnSemisyncTimeout::Block && (too_long || too_few)) {
    give_up(policy);
    return kNoDeadline;
  }
  if (!policy.gives_up()) return kNoDeadline;
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(policy.timeout) - waited;
  return Clock::now() + (waited.count() > 0 ? left : std::max<std::chrono::nanoseconds>(left, kLeastLook));
}

void StandaloneSemisync::give_up(const SemisyncPolicy& policy) {
  enter(State::GivenUp);
  ++times_given_up_;
  goal_ = pipeline_->durable_end();
  goal_set_ = Clock::now();
  spdlog::warn("Timeout waiting for reply of binlog (file: {}, pos: {}): {} have to acknowledge",
               pipeline_->log().file_name(goal_.file), goal_.offset, policy.wait_count);
  if (policy.on_timeout == OnSemisyncTimeout::Async) {
    pipeline_->set_gate(Gate::Immediate);
    return;
  }
  refuses_ = true;
  pipeline_->close_to_local_commits(too_few_acknowledge(policy.wait_count));
  pipeline_->fail_waiters(outcome_unknown(policy.wait_point));
}

bool StandaloneSemisync::has_caught_up(const SemisyncPolicy& policy) {
  const AckTracker& acknowledgements = *environment_.acknowledgements;
  if (acknowledgements.attached() < policy.wait_count || acknowledgements.announced() < goal_) return false;
  const LogPosition end = pipeline_->durable_end();
  const bool soon = Clock::now() - goal_set_ < kSoon;
  if (soon || acknowledgements.announced() >= end) return true;
  goal_ = end;
  goal_set_ = Clock::now();
  return false;
}

void StandaloneSemisync::resume(const SemisyncPolicy& policy) {
  enter(State::Waiting);
  spdlog::info("Semi-sync replication switched ON");
  pipeline_->set_gate(gate_of(policy.wait_point));
  if (refuses_.exchange(false)) environment_.open_to_local_commits();
}

}  // namespace commitd::replication

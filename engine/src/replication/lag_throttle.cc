#include "replication/lag_throttle.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "commit/commit_throttle.h"

namespace commitd::replication {
namespace {

using std::chrono::milliseconds;

// It comes and goes under load: the server's log says it so often at most.
constexpr auto kBetweenWords = std::chrono::minutes(1);

// News is as old as the marks are far apart, and is worth a share of the limit.
milliseconds between_looks(double limit) {
  return std::clamp(milliseconds(std::llround(limit * 100)), milliseconds(10), milliseconds(200));
}

}  // namespace

void LagThrottle::begin(binlog::CommitPipeline& pipeline) {
  {
    MutexLock lock(mutex_);
    pipeline_ = &pipeline;
  }
  limit_changed();
}

void LagThrottle::end() {
  MutexLock lock(mutex_);
  if (pipeline_ == nullptr) return;
  release();
  pipeline_ = nullptr;
}

void LagThrottle::limit_changed() {
  {
    MutexLock lock(mutex_);
    if (pipeline_ == nullptr) return;
    const double limit = *environment_.limit;
    if (limit > 0) {
      environment_.progress->begin(between_looks(std::max(limit, kLeastLagLimit)));
      if (!std::exchange(watched_, true)) environment_.reactor->spawn(watch(shared_from_this()));
    } else {
      release();
    }
  }
  environment_.wake_streams();
  changed_.set();
}

Task<void> LagThrottle::watch(std::shared_ptr<LagThrottle> self) {
  for (;;) {
    const Deadline next = self->look();
    co_await self->changed_.wait(next);
  }
}

Deadline LagThrottle::look() {
  MutexLock lock(mutex_);
  const double limit = *environment_.limit;
  if (pipeline_ == nullptr || limit <= 0) return kNoDeadline;
  const auto now = Clock::now();
  const auto next = now + between_looks(std::max(limit, kLeastLagLimit));
  adjust(std::max(limit, kLeastLagLimit), now);
  return next;
}

void LagThrottle::adjust(double limit, Clock::time_point now) {
  const ReplicaProgress::Look seen =
      environment_.progress->look(pipeline_.load()->acknowledged_end(), limit, now);
  const auto before = std::exchange(looked_, now);
  const double elapsed = before ? std::chrono::duration<double>(now - *before).count() : 0;
  lag_ = seen.slowest ? seen.slowest->reading.lag : 0;
  counted_ = seen.counted;
  set_rate(seen.slowest ? next_rate(in_force_, seen.slowest->reading, limit, elapsed) : std::nullopt, seen);
}

void LagThrottle::set_rate(std::optional<double> rate, const ReplicaProgress::Look& seen) {
  if (rate == in_force_) return;
  const auto now = Clock::now();
  if (!in_force_ && (!told_ || now - *told_ >= kBetweenWords)) {
    spdlog::info("writers are slowed (commitd_max_replica_lag): replica {} is {:.3f} s behind",
                 seen.slowest->server.to_string(), seen.slowest->reading.lag);
    told_ = now;
  }
  in_force_ = rate;
  rate_ = rate.value_or(0);
  pipeline_.load()->throttle().set_rate(rate);
}

void LagThrottle::release() {
  environment_.progress->end();
  set_rate(std::nullopt, {});
  looked_.reset();
  lag_ = 0;
  counted_ = 0;
}

LagThrottle::Waits LagThrottle::waits() const {
  binlog::CommitPipeline* const pipeline = pipeline_;
  if (pipeline == nullptr) return {};
  const binlog::CommitThrottle& throttle = pipeline->throttle();
  return {throttle.waits(), throttle.waited_ns(), throttle.waiting()};
}

}  // namespace commitd::replication

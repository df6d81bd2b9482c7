// commitd_max_replica_lag: while a replica is further behind than that, writers are slowed to its pace. Looks
// at the replicas (replica_progress.h), decides (lag_controller.h) and sets the commits' rate
// (commit/commit_throttle.h). While the variable is 0 nothing of this runs.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "commit/commit_pipeline.h"
#include "replication/replica_progress.h"
#include "replication/signal.h"
#include "runtime/reactor.h"

namespace commitd::replication {

using LagLimit = std::atomic<double>;  // seconds; 0: none

// A shorter limit counts as this: less is not measured.
inline constexpr double kLeastLagLimit = 0.1;

class LagThrottle : public std::enable_shared_from_this<LagThrottle> {
 public:
  struct Environment {
    Reactor* reactor = nullptr;
    std::shared_ptr<const LagLimit> limit;
    ReplicaProgress* progress = nullptr;
    std::function<void()> wake_streams;  // marks are wanted from now on, or no more
  };
  explicit LagThrottle(Environment environment) : environment_(std::move(environment)) {}

  void begin(binlog::CommitPipeline& pipeline);
  // When it returns, the pipeline is not touched any more.
  void end();
  // From any thread. When it returns and there is no limit, nobody waits.
  void limit_changed();

  // Of the last look; from any thread, without waiting.
  struct Shown {
    double bytes_per_second = 0;  // 0: writers are not slowed
    double lag = 0;               // of the slowest replica that counts
    size_t counted = 0;
  };
  Shown shown() const { return {rate_.load(), lag_.load(), counted_.load()}; }
  // Who waits, and who has.
  struct Waits {
    uint64_t begun = 0, nanoseconds = 0;
    size_t now = 0;
  };
  Waits waits() const;

 private:
  static Task<void> watch(std::shared_ptr<LagThrottle> self);
  // When to look again at the latest.
  Deadline look();
  void adjust(double limit, Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void release() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void set_rate(std::optional<double> rate, const ReplicaProgress::Look& seen)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Environment environment_;
  Event changed_;
  // Set under the mutex; metrics are read while others hold that and wait for the pipeline.
  std::atomic<binlog::CommitPipeline*> pipeline_{nullptr};
  Mutex mutex_;
  bool watched_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<double> in_force_ ABSL_GUARDED_BY(mutex_);
  std::optional<Clock::time_point> looked_ ABSL_GUARDED_BY(mutex_);
  std::optional<Clock::time_point> told_ ABSL_GUARDED_BY(mutex_);  // in the server's log
  std::atomic<double> rate_{0}, lag_{0};
  std::atomic<size_t> counted_{0};
};

}  // namespace commitd::replication

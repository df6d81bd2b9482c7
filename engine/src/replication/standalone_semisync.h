// Semisync as MySQL has it: a commit waits for rpl_semi_sync_source_timeout at most. Outside of a cluster
// every reader that acknowledges counts, and variables say how it waits; in a cluster the role statements do.
//
// Invariant: outside of begin() … end() it touches neither the gate nor the acknowledgements.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "commit/commit_pipeline.h"
#include "replication/ack_tracker.h"
#include "replication/semisync_settings.h"
#include "replication/signal.h"
#include "runtime/reactor.h"

namespace commitd::replication {

// What the variables would say where the role statements say `quorum`.
SemisyncPolicy policy_of(const Quorum& quorum);

class StandaloneSemisync : public std::enable_shared_from_this<StandaloneSemisync> {
 public:
  struct Environment {
    AckTracker* acknowledgements = nullptr;
    Reactor* reactor = nullptr;
    std::shared_ptr<const SemisyncSettings> settings;
    std::function<bool()> is_writable;            // local commits are let in
    std::function<void()> open_to_local_commits;  // again
  };
  explicit StandaloneSemisync(Environment environment) : environment_(std::move(environment)) {}

  // The server is the master of an epoch from now on, or goes on being it under another quorum: only its
  // members count, and its terms are in force.
  void begin(binlog::CommitPipeline& pipeline, const Quorum& quorum);
  // The server stands alone from now on.
  void begin(binlog::CommitPipeline& pipeline);
  // When this returns, the gate is somebody else's.
  void end();
  // From any thread.
  void settings_changed();
  // From any thread, also under the tracker's lock: who is attached, or what enough of them hold.
  void readers_changed();

  // What a commit waits for now.
  bool is_on() const;
  bool refuses_commits() const { return refuses_.load(); }
  bool blocks_without_readers() const { return is_on() || refuses_.load(); }
  // Transactions that were acknowledged, and those that were not waited for, by commits counted elsewhere.
  struct Tally {
    uint64_t yes = 0, no = 0;
  };
  Tally tally(uint64_t commits) const;
  uint64_t times_given_up() const { return times_given_up_.load(); }
  void count_commits_by(std::function<uint64_t()> commits) { commits_ = std::move(commits); }

 private:
  enum class State : uint8_t { Off, Waiting, GivenUp };

  static Task<void> watch(std::shared_ptr<StandaloneSemisync> self);
  // Acts on what has become of time and readers; when to look again at the latest.
  Deadline look();
  SemisyncPolicy policy() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void begin_as(binlog::CommitPipeline& pipeline, std::optional<Quorum> quorum);
  void count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void apply() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void give_up(const SemisyncPolicy& policy) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool has_caught_up(const SemisyncPolicy& policy) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void resume(const SemisyncPolicy& policy) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void enter(State next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Environment environment_;
  std::function<uint64_t()> commits_ = [] { return 0; };
  Event changed_;
  std::atomic<bool> listens_{false};  // to what readers do
  std::atomic<uint64_t> times_given_up_{0};

  mutable Mutex mutex_;
  binlog::CommitPipeline* pipeline_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::optional<Quorum> quorum_ ABSL_GUARDED_BY(mutex_);  // in a cluster
  bool watched_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> refuses_{false};  // local commits, by us
  // Who holds, soon after it was durable, what was durable then has caught up.
  LogPosition goal_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point goal_set_ ABSL_GUARDED_BY(mutex_){};

  // Metrics are read while others hold mutex_ and wait for the log.
  mutable Mutex tally_mutex_;
  std::atomic<State> state_{State::Off};
  Tally tally_ ABSL_GUARDED_BY(tally_mutex_);
  uint64_t tallied_ ABSL_GUARDED_BY(tally_mutex_) = 0;
};

}  // namespace commitd::replication

// How far each replica has applied this server's log, and how old what it lacks is. Measured here, in this
// log's places and by this machine's clock: a replica only names marks that stood in its stream
// (applied_marks.h). So what was sent and has not arrived counts like what was received and is not applied.
//
// Who counts: a replica that has been heard lately and says that its applier is meant to keep up. Not one
// whose applier is stopped, delayed or has an error, nor one that does not answer: an older commitd, any
// other server, a process that stands.
//
// The caller tells the time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "base/log_position.h"
#include "base/mutex.h"
#include "base/uuid.h"
#include "replication/lag_controller.h"
#include "replication/thinned.h"
#include "runtime/timer.h"

namespace commitd::replication {

class ReplicaProgress {
 public:
  // A replica that has said nothing for so long does not count.
  static constexpr auto kSilence = std::chrono::seconds(2);

  explicit ReplicaProgress(std::function<uint64_t(LogPosition, LogPosition)> bytes_between)
      : bytes_between_(std::move(bytes_between)) {}

  // --- from the streams, on any thread ---
  // Whether marks are wanted, and how far apart.
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  std::chrono::milliseconds between_marks() const { return between_marks_.load(std::memory_order_relaxed); }
  using Token = uint64_t;
  // The replica has all in front of `start`, or is thought to.
  Token attach(const Uuid& server, LogPosition start);
  void detach(Token token);
  // A mark has been put into its stream, behind everything up to there.
  void marked(Token token, uint64_t number, LogPosition position);
  // All in front of the mark is applied (0: of none). `keeps_up`: it goes on by itself.
  void told(Token token, uint64_t number, bool keeps_up, Clock::time_point now);

  // --- from who looks at the lag, again and again ---
  void begin(std::chrono::milliseconds between_marks);
  // Other marks from now on.
  void end();
  struct Replica {
    Uuid server;
    LagReading reading;
  };
  struct Look {
    std::optional<Replica> slowest;  // of those that count
    size_t counted = 0;
  };
  // Replicas may apply the log up to there: it is acknowledged. `limit`, in seconds, says over what time
  // paces are averaged: a pause that is short beside it is none.
  Look look(LogPosition end, double limit, Clock::time_point now);

 private:
  // A rate that follows what happens. Where that comes in steps, the time of a step counts for its bytes.
  class Pace {
   public:
    void add(double bytes, double seconds, double span);
    double bytes_per_second(double span) const;  // 0: not known
   private:
    double average_ = 0, since_step_ = 0;
    bool is_known_ = false;
  };
  struct Mark {
    uint64_t number;
    LogPosition position;
  };
  struct Attached {
    Uuid server;
    LogPosition applied, applied_before;  // now, and at the last look
    bool had_waiting = false;             // at the last look
    // Since the first mark came back of those that were put in since begin(): what was passed over in front
    // of that was not applied meanwhile.
    bool is_paced = false;
    std::optional<uint64_t> first_mark;
    Pace pace;
    Thinned<Mark> marks;
    bool keeps_up = false;
    std::optional<Clock::time_point> told_at;
  };
  struct Sample {
    LogPosition end;
    Clock::time_point at;
  };

  bool counts(const Attached& replica, Clock::time_point now) const;
  void note_written(LogPosition end, double seconds, double span, Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  LagReading read(Attached& replica, double seconds, double span, Clock::time_point now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double age_behind(LogPosition applied, Clock::time_point now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<uint64_t(LogPosition, LogPosition)> bytes_between_;
  std::atomic<bool> on_{false};
  std::atomic<std::chrono::milliseconds> between_marks_{std::chrono::milliseconds(0)};

  mutable Mutex mutex_;
  std::map<Token, Attached> attached_ ABSL_GUARDED_BY(mutex_);
  Token last_token_ ABSL_GUARDED_BY(mutex_) = 0;
  Thinned<Sample> samples_ ABSL_GUARDED_BY(mutex_);  // when the log was found to go so far
  std::optional<Clock::time_point> looked_ ABSL_GUARDED_BY(mutex_);
  LogPosition end_ ABSL_GUARDED_BY(mutex_);
  Pace written_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::replication

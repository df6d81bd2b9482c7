#include "replication/replica_progress.h"

#include <algorithm>
#include <cmath>

namespace commitd::replication {
namespace {

constexpr double kLeastSpan = 0.25;  // seconds

}  // namespace

void ReplicaProgress::Pace::add(double bytes, double seconds, double span) {
  since_step_ += seconds;
  if (bytes <= 0) return;
  const double weight = is_known_ ? 1 - std::exp(-since_step_ / span) : 1;
  average_ += (bytes / since_step_ - average_) * weight;
  is_known_ = true;
  since_step_ = 0;
}

// The longer the next step takes, the less there is of a pace.
double ReplicaProgress::Pace::bytes_per_second(double span) const {
  return average_ * std::min(1.0, span / std::max(since_step_, span));
}

ReplicaProgress::Token ReplicaProgress::attach(const Uuid& server, LogPosition start) {
  MutexLock lock(mutex_);
  Attached& replica = attached_[++last_token_];
  replica.server = server;
  replica.applied = replica.applied_before = start;
  return last_token_;
}

void ReplicaProgress::detach(Token token) {
  MutexLock lock(mutex_);
  attached_.erase(token);
}

void ReplicaProgress::marked(Token token, uint64_t number, LogPosition position) {
  MutexLock lock(mutex_);
  const auto at = attached_.find(token);
  if (at == attached_.end()) return;
  if (!at->second.first_mark) at->second.first_mark = number;
  at->second.marks.add({number, position});
}

// A mark that is not remembered any more stands for the one in front of it.
void ReplicaProgress::told(Token token, uint64_t number, bool keeps_up, Clock::time_point now) {
  MutexLock lock(mutex_);
  const auto at = attached_.find(token);
  if (at == attached_.end()) return;
  Attached& replica = at->second;
  replica.told_at = now;
  replica.keeps_up = keeps_up;
  while (!replica.marks.empty() && replica.marks.front().number <= number) {
    replica.applied = std::max(replica.applied, replica.marks.front().position);
    replica.marks.pop_front();
  }
  if (replica.first_mark && number >= *replica.first_mark) replica.is_paced = true;
}

void ReplicaProgress::begin(std::chrono::milliseconds between_marks) {
  between_marks_ = between_marks;
  on_ = true;
}

void ReplicaProgress::end() {
  on_ = false;
  MutexLock lock(mutex_);
  samples_.clear();
  looked_.reset();
  written_ = {};
  for (auto& [token, replica] : attached_) {
    replica.told_at.reset();
    replica.pace = {};
    replica.is_paced = replica.had_waiting = false;
    replica.first_mark.reset();
  }
}

bool ReplicaProgress::counts(const Attached& replica, Clock::time_point now) const {
  return replica.keeps_up && replica.told_at && now - *replica.told_at < kSilence;
}

// A log that was cut or begun anew has other places.
void ReplicaProgress::note_written(LogPosition end, double seconds, double span, Clock::time_point now) {
  if (end < end_) samples_.clear();
  if (looked_ && seconds > 0) written_.add(static_cast<double>(bytes_between_(end_, end)), seconds, span);
  if (samples_.empty() || end_ < end) samples_.add({end, now});
  end_ = end;
}

double ReplicaProgress::age_behind(LogPosition applied, Clock::time_point now) const {
  const auto lacks = std::partition_point(samples_.begin(), samples_.end(),
                                          [&](const Sample& sample) { return sample.end <= applied; });
  return lacks == samples_.end() ? 0 : std::chrono::duration<double>(now - lacks->at).count();
}

// Its pace shows only while it has something to apply all the time: else it is that of the source.
LagReading ReplicaProgress::read(Attached& replica, double seconds, double span, Clock::time_point now) {
  const bool has_waiting = replica.is_paced && replica.applied < end_;
  const LogPosition before = std::exchange(replica.applied_before, replica.applied);
  if (std::exchange(replica.had_waiting, has_waiting) && has_waiting && seconds > 0)
    replica.pace.add(static_cast<double>(bytes_between_(before, replica.applied)), seconds, span);
  LagReading reading;
  reading.lag = age_behind(replica.applied, now);
  reading.waiting = static_cast<double>(bytes_between_(replica.applied, end_));
  reading.applied = replica.pace.bytes_per_second(span);
  reading.written = written_.bytes_per_second(span);
  return reading;
}

ReplicaProgress::Look ReplicaProgress::look(LogPosition end, double limit, Clock::time_point now) {
  MutexLock lock(mutex_);
  const double span = std::max(limit / 2, kLeastSpan);
  const double seconds = looked_ ? std::chrono::duration<double>(now - *looked_).count() : 0;
  note_written(end, seconds, span, now);
  looked_ = now;
  Look result;
  LogPosition applied_by_all = end;
  for (auto& [token, replica] : attached_) {
    const LagReading reading = read(replica, seconds, span, now);
    applied_by_all = std::min(applied_by_all, replica.applied);
    if (!counts(replica, now)) continue;
    ++result.counted;
    if (!result.slowest || seconds_behind(reading, limit) > seconds_behind(result.slowest->reading, limit))
      result.slowest = {replica.server, reading};
  }
  while (!samples_.empty() && samples_.front().end <= applied_by_all) samples_.pop_front();
  return result;
}

}  // namespace commitd::replication

// How much may pass at a rate: arithmetic only, the time is the caller's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace commitd::binlog {

class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void set_rate(double bytes_per_second, Time now) {
    refill(now);
    rate_ = bytes_per_second;
    level_ = std::clamp(level_, -kMostOwed * rate_, kMostSaved * rate_);
  }

  // Whoever comes while nothing is owed passes, however large he is; who comes next waits until that is paid,
  // but for no longer than kMostOwed.
  bool take(uint64_t bytes, Time now) {
    refill(now);
    if (level_ < -kNothing) return false;
    level_ = std::max(level_ - static_cast<double>(bytes), -kMostOwed * rate_);
    return true;
  }
  // When nothing is owed any more.
  Time free_at(Time now) const {
    if (level_ >= 0) return now;
    return as_of_ + std::chrono::ceil<Time::duration>(std::chrono::duration<double>(-level_ / rate_));
  }

 private:
  static constexpr double kMostOwed = 1.0, kMostSaved = 0.05;  // seconds
  static constexpr double kNothing = 0.5;                      // bytes: what rounding leaves

  void refill(Time now) {
    if (now <= as_of_) return;
    level_ =
        std::min(level_ + std::chrono::duration<double>(now - as_of_).count() * rate_, kMostSaved * rate_);
    as_of_ = now;
  }

  double rate_ = 1;   // bytes per second
  double level_ = 0;  // saved; below 0: owed
  Time as_of_{};
};

}  // namespace commitd::binlog

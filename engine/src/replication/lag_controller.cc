#include "replication/lag_controller.h"

#include <algorithm>
#include <cmath>

namespace commitd::replication {
namespace {

// Shares of the limit. Up to the first an age may be that of a replica that keeps up, whose news is as old;
// from the second on writers are slowed, and at the third they go as fast as the replica applies.
constexpr double kNothing = 0.25, kBegin = 0.5, kSetPoint = 0.75;
// So much faster than the replica at the second; it falls in a straight line through the third. With half its
// pace left to writers it catches up, however far behind it is.
constexpr double kMostOfApplied = 1.5, kLeastOfApplied = 0.5;
// What a tenth of the limit leaves of a rate at least, and what a second makes of it at most.
constexpr double kFall = 0.7, kRise = 4;
// A rate that so many times of what is written would not reach slows nobody.
constexpr double kMargin = 4;

double share_of_applied(double share_of_limit) {
  const double slope = (kMostOfApplied - 1) / (kSetPoint - kBegin);
  return std::clamp(1 - (share_of_limit - kSetPoint) * slope, kLeastOfApplied, kMostOfApplied);
}

}  // namespace

double seconds_behind(const LagReading& reading, double limit) {
  if (reading.applied <= 0 || reading.lag < kNothing * limit) return reading.lag;
  return std::max(reading.lag, reading.waiting / reading.applied);
}

std::optional<double> next_rate(std::optional<double> in_force, const LagReading& reading, double limit,
                                double elapsed) {
  const double share = seconds_behind(reading, limit) / limit;
  const double before = std::max(in_force.value_or(reading.written), kLeastRate);
  const double most = before * std::pow(kRise, elapsed);
  if (share < kBegin) {
    if (!in_force || most >= kMargin * reading.written) return std::nullopt;
    return most;
  }
  // Half of its pace is writers' at once, as soon as that is known.
  const double least = std::max(
      {kLeastRate, before * std::pow(kFall, 10 * elapsed / limit), reading.applied * kLeastOfApplied});
  return std::clamp(reading.applied * share_of_applied(share), least, std::max(most, least));
}

}  // namespace commitd::replication

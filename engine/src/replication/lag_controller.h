// How fast writers may go so that the slowest replica falls no further behind than a limit: a pure function,
// asked again and again.
#pragma once

#include <optional>

namespace commitd::replication {

// Of the replica that is furthest behind, and of the source; bytes are those of the source's log.
struct LagReading {
  double lag = 0;      // seconds: how old the oldest is that it has not applied
  double waiting = 0;  // bytes that it has not applied
  double applied = 0;  // bytes per second, while it had something to apply; 0: not known
  double written = 0;  // bytes per second, by the source
};

// Seconds behind: as it is, or as it will be when what waits is applied at its pace, if that is more. The age
// alone tells too late: what is written within a burst is still to be applied when the burst is over. Where
// the age is small beside the limit nothing is wrong yet.
double seconds_behind(const LagReading& reading, double limit);

// Writers are never slowed to less, nor to less than half the pace of the replica.
inline constexpr double kLeastRate = 4096;  // bytes per second

// The next rate, `elapsed` seconds behind the one before; nullopt: none.
std::optional<double> next_rate(std::optional<double> in_force, const LagReading& reading, double limit,
                                double elapsed);

}  // namespace commitd::replication

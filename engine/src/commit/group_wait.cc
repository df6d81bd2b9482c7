#include "commit/group_wait.h"

#include <algorithm>
#include <cmath>

namespace commitd::binlog {
namespace {

constexpr double kWeightOfNewest = 1.0 / 8;
// Two halves take turns in twice the time of a sync. All together take it once, and the time in which they
// come again: up to this share of a sync that is a gain. (Where it is nearly as long, nothing is: meanwhile
// nobody syncs.)
constexpr double kWorthOfSync = 0.9;
// What halves show makes the time of all look longer than it is, since a part of it does not grow with their
// number. So it is tried up to this; what is found is believed for so many groups.
constexpr double kTriedUpTo = 1.3;
constexpr size_t kGroupsToTheNextTrial = 256;
// Of those who were answered, so many must usually come again in time.
constexpr double kMostReturn = 0.5;
// Who is later than this, compared with what is usual, is not coming.
constexpr double kPatience = 1.5;
constexpr std::chrono::milliseconds kLongestWait{10};

}  // namespace

void GroupWait::Average::add(double value) {
  value_ = samples_ == 0 ? value : value_ + (value - value_) * kWeightOfNewest;
  samples_ = std::min(samples_ + 1, kEnough);
}

void GroupWait::taken(size_t commits, bool waited, Time now) {
  being_synced_ = commits;
  waited_ = waited;
  taken_at_ = now;
}

void GroupWait::durable(Time now) {
  if (being_synced_ == 0) return;
  learn();
  sync_.add(Nanoseconds(now - taken_at_).count());
  answered_ = being_synced_;
  answered_together_ = waited_;
  being_synced_ = came_ = 0;
  durable_at_ = last_came_ = now;
}

void GroupWait::learn() {
  if (answered_ == 0) return;
  groups_since_tried_ = answered_together_ ? 0 : groups_since_tried_ + 1;
  if (groups_since_tried_ == kGroupsToTheNextTrial) pace_together_.forget();
  returning_.add(std::min(1.0, static_cast<double>(came_) / static_cast<double>(answered_)));
  if (came_ == 0) return;
  Average& pace = answered_together_ ? pace_together_ : pace_apart_;
  pace.add(Nanoseconds(last_came_ - durable_at_).count() / static_cast<double>(came_));
}

void GroupWait::came(Time when) {
  if (when < durable_at_ || Nanoseconds(when - durable_at_).count() > sync_.value()) return;
  ++came_;
  last_came_ = std::max(last_came_, when);
}

std::optional<GroupWait::Nanoseconds> GroupWait::pace_if_worth(size_t all) const {
  const bool tried = pace_together_.is_known();
  const Average& pace = tried ? pace_together_ : pace_apart_;
  const double longest = sync_.value() * (tried ? kWorthOfSync : kTriedUpTo);
  if (!pace.is_known() || pace.value() * static_cast<double>(all) > longest) return std::nullopt;
  return Nanoseconds(pace.value());
}

std::optional<GroupWait::Wait> GroupWait::worth_waiting(size_t queued) const {
  if (!returning_.is_known() || returning_.value() < kMostReturn) return std::nullopt;
  const auto expected = static_cast<size_t>(std::lround(returning_.value() * static_cast<double>(answered_)));
  if (expected <= came_) return std::nullopt;
  const size_t all = queued + expected - came_;
  const auto pace = all < 2 ? std::nullopt : pace_if_worth(all);
  if (!pace) return std::nullopt;
  const Nanoseconds wait =
      std::min<Nanoseconds>(*pace * static_cast<double>(expected) * kPatience, kLongestWait);
  return Wait{all, durable_at_ + std::chrono::duration_cast<Time::duration>(wait)};
}

}  // namespace commitd::binlog

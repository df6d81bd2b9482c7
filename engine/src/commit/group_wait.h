// Whether a group that could be written now is worth holding back for those who have just been answered. Most
// come again at once; a group that goes without them makes them wait for its sync before their own begins,
// and so clients that do nothing but commit split into two halves that take turns: two syncs for each commit.
// When they come again quickly, compared with a sync, one group of all is better.
//
// It is learned from the clients: how many of a group come again, and how quickly.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace commitd::binlog {

class GroupWait {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A group of so many local commits will be written and synced.
  void taken(size_t commits, bool waited, Time now);
  // That is done: whoever was waiting for it will be answered.
  void durable(Time now);
  // A local commit has been queued.
  void came(Time when);

  struct Wait {
    size_t commits = 0;  // until so many are queued,
    Time until;          // but no longer
  };
  std::optional<Wait> worth_waiting(size_t queued) const;

 private:
  using Nanoseconds = std::chrono::duration<double, std::nano>;

  // What the last values were like, the newest counting most.
  class Average {
   public:
    void add(double value);
    double value() const { return value_; }
    bool is_known() const { return samples_ >= kEnough; }
    void forget() { samples_ = 0; }

   private:
    static constexpr int kEnough = 8;
    double value_ = 0;
    int samples_ = 0;
  };

  std::optional<Nanoseconds> pace_if_worth(size_t all) const;
  void learn();

  Average sync_;       // ns from taking a group to its being durable
  Average returning_;  // the share of a group that comes again while a sync would take
  // ns from one of them to the next: of those of whom others were being synced meanwhile, and of those who
  // had been waited for. The second is what counts, and is only known once it has been tried.
  Average pace_apart_, pace_together_;
  size_t groups_since_tried_ = 0;
  size_t being_synced_ = 0;
  bool waited_ = false;  // for them
  Time taken_at_;
  // Since the last group was durable:
  size_t answered_ = 0, came_ = 0;
  bool answered_together_ = false;
  Time durable_at_, last_came_;
};

}  // namespace commitd::binlog

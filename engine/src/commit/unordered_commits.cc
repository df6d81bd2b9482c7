#include "commit/unordered_commits.h"

#include <algorithm>
#include <utility>

#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

observe::Counter& overtakings() {
  static auto& counter = observe::counter("commitd_commits_out_of_order_total",
                                          "Commits that came into the engine before one earlier in the log.");
  return counter;
}

}  // namespace

void UnorderedCommits::expect(std::span<const PendingTransaction> transactions,
                              const storage::EnginePlace& place) {
  MutexLock lock(mutex_);
  place_ = place;
  ends_.clear();
  for (const PendingTransaction& transaction : transactions) ends_[transaction.end] = false;
  to_come_ = transactions.size();
}

Result<storage::EnginePlace> UnorderedCommits::wait_for_all() {
  MutexLock lock(mutex_);
  while (to_come_ != 0) all_came_.wait(lock);
  if (failed_) return *failed_;
  return place_;
}

Status UnorderedCommits::take(const CommitRequest& request) {
  Status taken = put(request);
  MutexLock lock(mutex_);
  if (!taken.ok() && !failed_) failed_ = taken.error();
  if (--to_come_ == 0) all_came_.notify_one();
  return taken;
}

Status UnorderedCommits::put(const CommitRequest& request) {
  storage::CommitStep step;
  {
    // One at a time: the engine's position must not go back.
    MutexLock lock(mutex_);
    if (failed_) return *failed_;
    ends_.at(request.end) = true;
    for (; !ends_.empty() && ends_.begin()->second; ends_.erase(ends_.begin()))
      place_.position = ends_.begin()->first;
    place_.incomplete_up_to = std::max(place_.incomplete_up_to, request.end);
    if (place_.position < request.end) overtakings().add();
    static_cast<storage::EnginePlace&>(step) = place_;
    step.added.add(request.gtid);
    WriteSet* const alone[] = {request.writes};
    COMMITD_RETURN_IF_ERROR(engine_.commit_ordered(alone, step));
  }
  COMMITD_RETURN_IF_ERROR(engine_.commit());
  taken_(request, step);
  return {};
}

}  // namespace commitd::binlog

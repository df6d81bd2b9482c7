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

void UnorderedCommits::expect(std::span<const PendingTransaction> transactions, storage::CommitPoint point) {
  MutexLock lock(mutex_);
  point_ = std::move(point);
  ends_.clear();
  for (const PendingTransaction& transaction : transactions) ends_[transaction.end] = false;
  to_come_ = transactions.size();
}

Result<storage::CommitPoint> UnorderedCommits::wait_for_all() {
  MutexLock lock(mutex_);
  while (to_come_ != 0) all_came_.wait(lock);
  if (failed_) return *failed_;
  return point_;
}

Status UnorderedCommits::take(const CommitRequest& request) {
  Status taken = put(request);
  MutexLock lock(mutex_);
  if (!taken.ok() && !failed_) failed_ = taken.error();
  if (--to_come_ == 0) all_came_.notify_one();
  return taken;
}

Status UnorderedCommits::put(const CommitRequest& request) {
  storage::CommitPoint point;
  {
    // One at a time: the engine's position must not go back.
    MutexLock lock(mutex_);
    if (failed_) return *failed_;
    ends_.at(request.end) = true;
    for (; !ends_.empty() && ends_.begin()->second; ends_.erase(ends_.begin()))
      point_.position = ends_.begin()->first;
    point_.executed.add(request.gtid);
    point_.incomplete_up_to = std::max(point_.incomplete_up_to, request.end);
    if (point_.position < request.end) overtakings().add();
    WriteSet* const alone[] = {request.writes};
    COMMITD_RETURN_IF_ERROR(engine_.commit_ordered(alone, point_));
    point = point_;
  }
  COMMITD_RETURN_IF_ERROR(engine_.commit());
  taken_(request, point);
  return {};
}

}  // namespace commitd::binlog

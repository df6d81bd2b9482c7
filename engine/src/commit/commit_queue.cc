#include "commit/commit_queue.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

// A group beyond this gains nothing from growing, and costs memory.
constexpr size_t kLargestGroup = 16 << 20;

Error shutting_down() {
  return make_error(er::kServerShutdown, "Server shutdown in progress");
}

bool is_epoch(const LocalCommit* commit) {
  return commit->request->epoch != 0;
}

void count_wait_for_others() {
  static auto& waits = observe::counter("commitd_commit_group_waits_total",
                                        "Commit groups held back for clients that were coming again.");
  waits.add();
}

}  // namespace

Status CommitQueue::push(LocalCommit& commit) {
  MutexLock lock(mutex_);
  if (stopped_) return shutting_down();
  if (closed_ && !is_epoch(&commit))
    return *closed_;  // a new master logs its epoch before it is open to anybody
  if (!ordered_.holds(commit.request->seen)) return seen_was_lost();
  if (commit.request->ground && !ordered_.is_firm(*commit.request->ground)) return stands_on_older_data();
  if (commit.ordered.writes != nullptr) ordered_.give_order(commit.ordered);
  local_.push_back(&commit);
  group_wait_.came(commit.queued);
  if (local_.size() >= wanted_) tell();
  return {};
}

void CommitQueue::push(ReceivedTransaction received) {
  MutexLock lock(mutex_);
  if (stopped_) return;
  received_.push_back(std::move(received));
  tell();
}

Status CommitQueue::push(LogTask& task) {
  MutexLock lock(mutex_);
  if (stopped_) return shutting_down();
  tasks_.push_back(&task);
  tell();
  return {};
}

bool CommitQueue::is_empty() const {
  MutexLock lock(mutex_);
  return local_.empty() && received_.empty() && tasks_.empty();
}

bool CommitQueue::is_open() const {
  MutexLock lock(mutex_);
  return !closed_ && !failed_;
}

bool CommitQueue::can_take() const {
  if (paused_) return false;
  return !received_.empty() || !tasks_.empty() || can_take_local();
}

bool CommitQueue::can_take_local() const {
  return holds_local() ? std::any_of(local_.begin(), local_.end(), is_epoch) : !local_.empty();
}

std::optional<CommitQueue::Batch> CommitQueue::take(const std::function<Gathering()>& gathering) {
  MutexLock lock(mutex_);
  busy_ = busy_with_local_ = false;
  between_batches_.notify_all();
  Gathering how = gathering();
  bool waited = false;
  do {
    waited |= how.for_others && wait_for_others(lock);
    wait_for_work(lock);
    if (!can_take()) return std::nullopt;
    how = gathering();
    gather(lock, how);
  } while (!can_take());  // paused meanwhile
  busy_ = true;
  Batch batch = take_batch(how.one_at_a_time);
  group_wait_.taken(batch.local.size(), waited, Clock::now());
  return batch;
}

void CommitQueue::batch_is_durable(Clock::time_point now) {
  MutexLock lock(mutex_);
  group_wait_.durable(now);
}

// Only the log thread waits for this.
void CommitQueue::tell() {
  news_.fetch_add(1);
  work_.notify_one();
}

void CommitQueue::wait_for_work(Lock& lock) {
  if (work_is_there()) return;
  const uint64_t known = news_.load();
  mutex_.unlock();
  idle_.look([&] { return news_.load() != known; });
  mutex_.lock();
  while (!work_is_there()) work_.wait(lock);
  idle_.over();
}

// Those that are waited for do not wake the log thread one by one.
bool CommitQueue::wait_for_others(Lock& lock) {
  if (holds_local() || !received_.empty() || something_else_is_wanted()) return false;
  const auto wait = group_wait_.worth_waiting(local_.size());
  if (!wait) return false;
  count_wait_for_others();
  wanted_ = wait->commits;
  while (local_.size() < wanted_ && received_.empty() && !something_else_is_wanted()) {
    if (work_.wait_until(lock, wait->until) == std::cv_status::timeout) break;
  }
  wanted_ = 0;
  return true;
}

// Who is not a transaction does not wait for others, nor do transactions behind him.
void CommitQueue::gather(Lock& lock, const Gathering& how) {
  if (how.time.count() == 0) return;
  const auto until = Clock::now() + how.time;
  const size_t enough = how.enough == 0 ? SIZE_MAX : how.enough;
  while (local_.size() + received_.size() < enough && !something_else_is_wanted()) {
    if (work_.wait_until(lock, until) == std::cv_status::timeout) break;
  }
}

CommitQueue::Batch CommitQueue::take_batch(bool one_at_a_time) {
  Batch batch;
  size_t bytes = 0;
  const bool only_local = std::exchange(received_failed_, false) && can_take_local();
  while (!received_.empty() && bytes < kLargestGroup && !only_local) {
    const bool alone = received_.front().events.on_disk() != 0;
    if (alone && !batch.received.empty()) break;
    bytes += alone ? kLargestGroup : received_.front().events.size();
    batch.received.push_back(std::move(received_.front()));
    received_.pop_front();
  }
  for (auto next = local_.begin(); next != local_.end() && bytes < kLargestGroup;) {
    if (holds_local() && !is_epoch(*next)) {
      ++next;
      continue;
    }
    const bool alone = (*next)->request->events->spilled();
    if (alone && !(batch.local.empty() && batch.received.empty())) break;
    bytes += (*next)->request->events->size();
    batch.local.push_back(*next);
    next = local_.erase(next);
    if (one_at_a_time || alone) break;
  }
  busy_with_local_ = !batch.local.empty();
  batch.tasks.swap(tasks_);
  return batch;
}

void CommitQueue::put_back(std::vector<ReceivedTransaction> received, std::chrono::milliseconds rest) {
  MutexLock lock(mutex_);
  for (auto it = received.rbegin(); it != received.rend(); ++it) received_.push_front(std::move(*it));
  received_failed_ = true;
  if (stopped_) received_.clear();  // they are still at their source
  // Who wants the log thread between two groups does not wait for room on the disk.
  const auto until = Clock::now() + rest;
  while (!stopped_ && !paused_) {
    if (work_.wait_until(lock, until) == std::cv_status::timeout) break;
  }
  if (stopped_) received_.clear();
}

void CommitQueue::drop_received() {
  MutexLock lock(mutex_);
  received_.clear();
}

void CommitQueue::hold_local(bool on) {
  MutexLock lock(mutex_);
  if (held_ == on) return;
  held_ = on;
  tell();
}

void CommitQueue::freeze_local() {
  MutexLock lock(mutex_);
  ++frozen_;
}

void CommitQueue::thaw_local() {
  MutexLock lock(mutex_);
  --frozen_;
  tell();
}

bool CommitQueue::is_between_groups() {
  MutexLock lock(mutex_);
  return !busy_with_local_;
}

std::vector<LocalCommit*> CommitQueue::close(Error why) {
  MutexLock lock(mutex_);
  closed_ = std::move(why);
  return take_out_queued();
}

std::vector<LocalCommit*> CommitQueue::fail(Error why) {
  MutexLock lock(mutex_);
  failed_ = std::move(why);
  return take_out_queued();
}

void CommitQueue::open() {
  MutexLock lock(mutex_);
  closed_.reset();
}

std::vector<LocalCommit*> CommitQueue::remove_queued() {
  MutexLock lock(mutex_);
  return take_out_queued();
}

std::vector<LocalCommit*> CommitQueue::take_out_queued() {
  std::vector<LocalCommit*> queued(local_.begin(), local_.end());
  local_.clear();
  bool lost = false;
  for (LocalCommit* commit : queued) lost |= ordered_.remove(commit->ordered);
  if (lost) ordered_.lost();
  return queued;
}

// One step for push(): who is queued before has seen nothing that is lost here, who comes later is refused.
std::vector<LocalCommit*> CommitQueue::give_up(std::span<LocalCommit* const> commits) {
  MutexLock lock(mutex_);
  bool lost = false;
  for (LocalCommit* commit : commits) lost |= ordered_.remove(commit->ordered);
  if (!lost) return {};
  const auto first_dependant = std::stable_partition(
      local_.begin(), local_.end(),
      [this](LocalCommit* commit) { return ordered_.is_applied(commit->request->seen); });
  std::vector<LocalCommit*> dependants(first_dependant, local_.end());
  local_.erase(first_dependant, local_.end());
  for (LocalCommit* commit : dependants) ordered_.remove(commit->ordered);
  ordered_.lost();
  return dependants;
}

void CommitQueue::pause() {
  MutexLock lock(mutex_);
  while (paused_) between_batches_.wait(lock);
  paused_ = true;
  work_.notify_one();
  while (busy_) between_batches_.wait(lock);
}

void CommitQueue::resume() {
  MutexLock lock(mutex_);
  paused_ = false;
  tell();
  between_batches_.notify_all();
}

void CommitQueue::stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  tell();
}

}  // namespace commitd::binlog

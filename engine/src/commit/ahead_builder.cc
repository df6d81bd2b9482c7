#include "commit/ahead_builder.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/text_case.h"
#include "binlog/events.h"
#include "commit/time_of_day.h"
#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

// To wake others for fewer takes longer than to build them.
constexpr size_t kWorthwhile = 16;
// So many transactions are ahead, and so many bytes of their events. What is built of them may take several
// times as much, and each takes something.
constexpr size_t kMostAhead = 256;
constexpr uint64_t kMostBytes = 4 << 20;
constexpr uint64_t kMemoryPerByte = 4, kMemoryPerTransaction = 2048;
constexpr size_t kReadSize = 1 << 20;
// When most of so many were of no use, the rest will hardly be.
constexpr size_t kEnoughToJudge = 64;

void count_turn(bool was_used) {
  static auto& used = observe::counter("commitd_replica_ahead_transactions_total",
                                       "Transactions made from their events before their turn, by "
                                       "replica_parallel_workers, and taken like that.");
  static auto& useless =
      observe::counter("commitd_replica_ahead_made_again_total",
                       "Transactions that replica_parallel_workers made before their turn and that were made "
                       "again in it: something in front had changed what they depend on, or they cannot be "
                       "made before.");
  (was_used ? used : useless).add();
}

// Others have their writes with them.
bool is_known_by_events(const PendingTransaction& transaction) {
  return transaction.local == nullptr;
}

// Definitions, or what nobody knows by its first events. Row events come behind BEGIN.
bool may_change_definitions(std::string_view events) {
  const auto first = parse_event(events);
  if (!first || first->header.type != EventType::Gtid) return true;
  events.remove_prefix(first->bytes.size());
  const auto second = parse_event(events);
  if (!second) return true;
  if (second->header.type != EventType::Query) return second->header.type != EventType::Ignorable;
  const auto query = parse_query_event(*second, true);
  return !query || !equal_words(query->sql, "BEGIN");
}

}  // namespace

AheadBuilder::~AheadBuilder() {
  stop_workers();
}

void AheadBuilder::begin(std::span<const PendingTransaction> transactions, LogPosition compared_from) {
  // The legacy way reads each event under a lock, in its turn.
  if (transactions.size() < kWorthwhile || settings_.applier_takes_log_lock) return;
  if (std::none_of(transactions.begin(), transactions.end(), is_known_by_events)) return;
  set_workers(settings_.parallel_workers);
  if (threads_.empty()) return;
  active_ = true;
  transactions_ = transactions;
  compared_from_ = compared_from;
  offered_ = recent_ = recently_useless_ = 0;
  closed_ = given_up_ = false;
}

void AheadBuilder::end() {
  if (!active_) return;
  if (in_turn_ != nullptr) end_turn();
  active_ = false;
  chunk_ = {};
  bytes_ = 0;
  {
    MutexLock lock(mutex_);
    unclaimed_ = slots_.size();
    while (under_way_ != 0) made_.wait(lock);
    slots_.clear();
    unclaimed_ = 0;
  }
  memory_.clear();
}

EventApplier::Ahead* AheadBuilder::next_turn() {
  if (!active_) return nullptr;
  if (in_turn_ != nullptr) end_turn();
  offer_more();
  transactions_ = transactions_.subspan(1);
  --offered_;
  MutexLock lock(mutex_);
  in_turn_ = &slots_.front();
  if (unclaimed_ == 0) {
    unclaimed_ = 1;  // nobody has come to it, and now nobody needs to
    return nullptr;
  }
  while (in_turn_->claimed && !in_turn_->made) made_.wait(lock);
  return in_turn_->ahead.complete ? &in_turn_->ahead : nullptr;
}

void AheadBuilder::end_turn() {
  const bool tried = in_turn_->claimed, used = in_turn_->ahead.complete && !rejected_;
  bytes_ -= in_turn_->events.size();
  if (tried) {
    count_turn(used);
    recently_useless_ += used ? 0 : 1;
    if (++recent_ == kEnoughToJudge) {
      given_up_ = given_up_ || recently_useless_ * 2 > recent_;
      recent_ = recently_useless_ = 0;
    }
  }
  rejected_ = false;
  MutexLock lock(mutex_);
  if (used) {
    AheadWorker& worker = workers_[in_turn_->worker];
    worker.latest = in_turn_->gtid;
    worker.began_at = in_turn_->began_at;
    worker.ended_at = in_turn_->ended_at;
  }
  in_turn_ = nullptr;
  slots_.pop_front();
  --unclaimed_;
  if (slots_.empty()) closed_ = false;
}

// Half of them at once: whoever is woken for them has something to do.
void AheadBuilder::offer_more() {
  if (offered_ != 0 && (closed_ || offered_ > kMostAhead / 2)) return;
  std::deque<Slot> more;
  while (!closed_ && offered_ < transactions_.size() && offered_ < kMostAhead) {
    const PendingTransaction& transaction = transactions_[offered_];
    if (!offer(transaction, more.emplace_back()) && offered_ != 0) {
      more.pop_back();
      break;
    }
    ++offered_;
  }
  if (more.empty()) return;
  MutexLock lock(mutex_);
  for (Slot& slot : more) slots_.push_back(std::move(slot));
  work_.notify_all();
}

// False: there is no room for it now.
bool AheadBuilder::offer(const PendingTransaction& transaction, Slot& slot) {
  if (given_up_ || transaction.skipped) return true;
  if (!is_known_by_events(transaction)) {
    closed_ = true;
    return true;
  }
  const uint64_t size = transaction.size();
  if (bytes_ + size > kMostBytes ||
      !memory_.cover((bytes_ + size) * kMemoryPerByte + (offered_ + 1) * kMemoryPerTransaction))
    return false;
  find_events(transaction, slot);
  if (slot.events.empty()) return true;
  if (may_change_definitions(slot.events)) {
    closed_ = true;
    slot.events = {};
    return true;
  }
  slot.compare = transaction.received && transaction.end > compared_from_;
  bytes_ += size;
  return true;
}

// None when they are not in one piece: they are large, or cannot be read, which their turn will tell.
void AheadBuilder::find_events(const PendingTransaction& transaction, Slot& slot) {
  const uint64_t size = transaction.size();
  const auto inside = [&] {
    if (chunk_.start.file != transaction.start.file || chunk_.start.offset > transaction.start.offset)
      return false;
    const uint64_t skip = transaction.start.offset - chunk_.start.offset;
    if (skip + size > chunk_.bytes.size()) return false;
    slot.storage = chunk_.storage;
    slot.events = chunk_.bytes.substr(skip, size);
    return true;
  };
  if (inside() || size > kReadSize) return;
  auto read = log_.read(transaction.start, transactions_.back().end, kReadSize);
  if (!read.ok()) return;
  chunk_ = std::move(*read);
  inside();
}

void AheadBuilder::set_workers(size_t count) {
  if (count == threads_.size()) return;
  stop_workers();
  {
    MutexLock lock(mutex_);
    stopped_ = false;
    workers_.assign(count, {});
  }
  for (size_t number = 0; number < count; ++number) threads_.emplace_back([this, number] { run(number); });
}

void AheadBuilder::stop_workers() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    work_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void AheadBuilder::run(size_t number) {
  Slot* slot = nullptr;
  while ((slot = next_task(slot, number)) != nullptr) make(*slot);
}

AheadBuilder::Slot* AheadBuilder::next_task(Slot* made, size_t number) {
  MutexLock lock(mutex_);
  if (made != nullptr) {
    made->made = true;
    --under_way_;
    workers_[number].current = {};
    if (made == &slots_.front() || unclaimed_ == slots_.size()) made_.notify_one();
  }
  for (;;) {
    if (stopped_) return nullptr;
    while (unclaimed_ < slots_.size() && slots_[unclaimed_].events.empty()) ++unclaimed_;
    if (unclaimed_ < slots_.size()) break;
    work_.wait(lock);
  }
  Slot& slot = slots_[unclaimed_++];
  ++under_way_;
  slot.claimed = true;
  slot.worker = number;
  return &slot;
}

void AheadBuilder::make(Slot& slot) {
  slot.began_at = now_microseconds();
  if (const auto event = parse_event(slot.events)) {
    if (auto gtid = parse_gtid_event(*event, true)) slot.gtid = *gtid;
  }
  {
    MutexLock lock(mutex_);
    workers_[slot.worker].current = slot.gtid;
    workers_[slot.worker].current_since = slot.began_at;
  }
  applier_.build_ahead(slot.events, slot.compare, slot.ahead);
  slot.ended_at = now_microseconds();
}

std::vector<AheadWorker> AheadBuilder::workers() const {
  const size_t count = settings_.parallel_workers;
  MutexLock lock(mutex_);
  std::vector<AheadWorker> workers = workers_;
  workers.resize(count);
  return workers;
}

}  // namespace commitd::binlog

// Makes the writes of transactions that are known by their events before their turn, on threads of its own
// (replica_parallel_workers), while those in front are taken into the engine. Order stays with whoever asks:
// what was made counts when its turn has come and EventApplier::take() lets it, else it is made again.
// Between end() and begin() nothing is under way.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/memory_budget.h"
#include "base/mutex.h"
#include "commit/commit_pipeline.h"
#include "commit/pending_transaction.h"
#include "log/log.h"

namespace commitd::binlog {

class AheadBuilder {
 public:
  AheadBuilder(Log& log, const EventApplier& applier, const CommitSettings& settings)
      : log_(log), applier_(applier), settings_(settings) {}
  ~AheadBuilder();
  AheadBuilder(const AheadBuilder&) = delete;

  // --- of the thread that takes transactions into the engine ---
  // `transactions` will have their turn one behind the other; received ones behind `compared_from` are
  // compared. With a few, or without workers, nothing is made ahead.
  void begin(std::span<const PendingTransaction> transactions, LogPosition compared_from);
  void end();  // waits for what is being made; the rest is dropped
  bool is_active() const { return active_; }
  // The turn of the next one, whose predecessor has been built. What was made of it stays until the turn
  // after that; null: nothing.
  EventApplier::Ahead* next_turn();
  // That does not count: something in front has changed what it depends on.
  void reject() { rejected_ = true; }

  // --- from any thread ---
  std::vector<AheadWorker> workers() const;

 private:
  struct Slot {
    std::shared_ptr<const std::string> storage;  // of the events
    std::string_view events;                     // empty: it is not made ahead
    bool compare = false;
    // Under the mutex; what follows is the worker's from claimed to made.
    bool claimed = false, made = false;
    size_t worker = 0;
    GtidEvent gtid;
    uint64_t began_at = 0, ended_at = 0;
    EventApplier::Ahead ahead;
  };

  void set_workers(size_t count);
  void stop_workers();
  void run(size_t number);
  Slot* next_task(Slot* made, size_t number);
  void make(Slot& slot);

  void offer_more();
  bool offer(const PendingTransaction& transaction, Slot& slot);
  void find_events(const PendingTransaction& transaction, Slot& slot);
  void end_turn();

  Log& log_;
  const EventApplier& applier_;
  const CommitSettings& settings_;

  // Of the thread that asks.
  std::span<const PendingTransaction> transactions_;  // whose turn has not come; while it is active
  size_t offered_ = 0;                                // of these
  bool active_ = false;
  LogPosition compared_from_;
  bool closed_ = false;  // no more is offered before what is has had its turn: it changes definitions
  bool given_up_ = false;
  size_t recent_ = 0, recently_useless_ = 0;
  Slot* in_turn_ = nullptr;
  bool rejected_ = false;  // what was made of that one
  LogChunk chunk_;
  uint64_t bytes_ = 0;  // of the events in slots_
  MemoryReservation memory_{MemoryUse::Transactions};
  std::vector<std::thread> threads_;

  mutable Mutex mutex_;
  CondVar work_, made_;
  std::deque<Slot> slots_ ABSL_GUARDED_BY(mutex_);  // the one whose turn it is, and those behind it
  size_t unclaimed_ ABSL_GUARDED_BY(mutex_) = 0;    // the first of them that nobody has looked at
  size_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;    // claimed and not made
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<AheadWorker> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::binlog

// Wait events: how often and how long threads and sessions waited, by what for. Names are MySQL's where the
// thing is (wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_commit); performance_schema and /metrics show them.
//
// Counting touches memory of the own thread only, so that it costs a few nanoseconds and no cache line
// travels; summing up happens when somebody asks. Everything can be switched off (performance_schema=OFF).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/tick_clock.h"

namespace commitd::observe {

namespace wait_slots {

// What is counted most has one field and nothing to compare: waits of no time are never set back (a reset
// remembers how many there were), everything else belongs to a generation.
struct alignas(64) Cell {
  std::atomic<uint64_t> passed{0};
  std::atomic<uint32_t> generation{0};
  std::atomic<uint64_t> count{0}, sum_ns{0}, min_ns{0}, max_ns{0}, bytes{0};
};

inline constexpr size_t kMost = 160;
struct Shard {
  Cell cells[kMost];
};

extern std::atomic<bool> switched_on;
extern std::atomic<uint32_t> generation;
extern constinit thread_local Shard* own_shard;  // null until the thread counts for the first time
Shard& claim_shard();

// Only the thread that owns the shard writes it: no read-modify-write is needed.
inline Cell& own_cell(size_t slot) {
  return (own_shard != nullptr ? *own_shard : claim_shard()).cells[slot];
}

inline void count_passed(size_t slot) {
  std::atomic<uint64_t>& passed = own_cell(slot).passed;
  passed.store(passed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

inline void count(size_t slot, uint64_t ns, uint64_t bytes) {
  Cell& cell = own_cell(slot);
  constexpr auto relaxed = std::memory_order_relaxed;
  const uint32_t now = generation.load(relaxed);
  if (cell.generation.load(relaxed) != now) {
    cell.count.store(0, relaxed);
    cell.sum_ns.store(0, relaxed);
    cell.min_ns.store(UINT64_MAX, relaxed);
    cell.max_ns.store(0, relaxed);
    cell.bytes.store(0, relaxed);
    cell.generation.store(now, std::memory_order_release);
  }
  cell.count.store(cell.count.load(relaxed) + 1, relaxed);
  if (ns < cell.min_ns.load(relaxed)) cell.min_ns.store(ns, relaxed);
  cell.sum_ns.store(cell.sum_ns.load(relaxed) + ns, relaxed);
  if (ns > cell.max_ns.load(relaxed)) cell.max_ns.store(ns, relaxed);
  if (bytes != 0) cell.bytes.store(cell.bytes.load(relaxed) + bytes, relaxed);
}

}  // namespace wait_slots

inline bool wait_events_on() {
  return wait_slots::switched_on.load(std::memory_order_relaxed);
}
void switch_wait_events(bool on);

// One kind of wait. The same name twice is the same event.
class WaitEvent {
 public:
  explicit WaitEvent(std::string_view name);

  void waited(std::chrono::nanoseconds time) const {
    wait_slots::count(slot_, static_cast<uint64_t>(time.count()), 0);
  }
  // Nothing was in the way: counted as a wait of no time.
  void passed() const { wait_slots::count_passed(slot_); }

 private:
  size_t slot_;
};

// Reads, writes and other calls on one kind of file or socket, with the bytes moved.
enum class IoKind : uint8_t { Read, Write, Other };
class IoEvent {
 public:
  explicit IoEvent(std::string_view name);

  void done(IoKind kind, std::chrono::nanoseconds time, uint64_t bytes) const {
    wait_slots::count(slot_ + static_cast<size_t>(kind), static_cast<uint64_t>(time.count()), bytes);
  }

 private:
  size_t slot_;
};

// Counts the time from here to the end of the scope, which may be another thread's when a coroutine moves.
class WaitTimer {
 public:
  explicit WaitTimer(const WaitEvent& event) : event_(wait_events_on() ? &event : nullptr) {
    if (event_ != nullptr) began_ = TickClock::now();
  }
  ~WaitTimer() {
    if (event_ != nullptr) event_->waited(TickClock::between(began_, TickClock::now()));
  }
  WaitTimer(const WaitTimer&) = delete;

 private:
  const WaitEvent* event_;
  TickClock::Ticks began_ = 0;
};

// The same for input and output.
class IoTimer {
 public:
  IoTimer(const IoEvent& event, IoKind kind) : event_(wait_events_on() ? &event : nullptr), kind_(kind) {
    if (event_ != nullptr) began_ = TickClock::now();
  }
  ~IoTimer() {
    if (event_ != nullptr) event_->done(kind_, TickClock::between(began_, TickClock::now()), bytes_);
  }
  IoTimer(const IoTimer&) = delete;
  void moved(uint64_t bytes) { bytes_ += bytes; }

 private:
  const IoEvent* event_;
  IoKind kind_;
  uint64_t bytes_ = 0;
  TickClock::Ticks began_ = 0;
};

struct WaitTotals {
  uint64_t count = 0, sum_ns = 0, min_ns = 0, max_ns = 0, bytes = 0;
  void add(const WaitTotals& other);
};
struct WaitSummary {
  std::string name;
  WaitTotals total;
  bool is_io = false;
  WaitTotals by_kind[3];  // in the order of IoKind, when it is one
};

// Every event that there is, in order of name, also those that never happened.
std::vector<WaitSummary> wait_summaries();
// All counts start again at 0.
void reset_wait_events();

}  // namespace commitd::observe

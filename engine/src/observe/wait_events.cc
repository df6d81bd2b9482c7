#include "observe/wait_events.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>

#include "observe/metrics.h"

namespace commitd::observe {

namespace wait_slots {

std::atomic<bool> switched_on{true};
std::atomic<uint32_t> generation{1};
constinit thread_local Shard* own_shard = nullptr;

namespace {

struct Event {
  size_t slot = 0;
  bool is_io = false;
};

// Never destroyed: threads count until the very end.
class Registry {
 public:
  static Registry& instance() {
    static Registry* registry = new Registry;
    return *registry;
  }

  size_t slot_of(const std::string& name, bool is_io);
  std::map<std::string, Event> events() {
    std::lock_guard lock(mutex_);
    return events_;
  }
  WaitTotals totals(size_t slot);
  void reset();

  Shard& claim() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return shards_.emplace_back();
    Shard* shard = free_.back();
    free_.pop_back();
    return *shard;
  }
  // What it has counted stays and goes on counting for the next thread.
  void give_back(Shard& shard) {
    std::lock_guard lock(mutex_);
    free_.push_back(&shard);
  }

 private:
  uint64_t passed_of_all_time(size_t slot) const;

  std::mutex mutex_;
  std::map<std::string, Event> events_;
  size_t next_slot_ = 0;
  uint64_t passed_before_reset_[kMost] = {};
  std::deque<Shard> shards_;
  std::vector<Shard*> free_;
};

size_t Registry::slot_of(const std::string& name, bool is_io) {
  std::lock_guard lock(mutex_);
  const auto known = events_.find(name);
  if (known != events_.end()) return known->second.slot;
  const size_t slot = next_slot_;
  next_slot_ += is_io ? 3 : 1;
  if (next_slot_ > kMost) {
    std::fprintf(stderr, "no room for wait event %s: raise wait_slots::kMost\n", name.c_str());
    std::abort();
  }
  events_.emplace(name, Event{slot, is_io});
  return slot;
}

WaitTotals Registry::totals(size_t slot) {
  constexpr auto relaxed = std::memory_order_relaxed;
  std::lock_guard lock(mutex_);
  const uint32_t now = generation.load(relaxed);
  WaitTotals sum;
  sum.add({.count = passed_of_all_time(slot) - passed_before_reset_[slot]});
  for (const Shard& shard : shards_) {
    const Cell& cell = shard.cells[slot];
    if (cell.generation.load(std::memory_order_acquire) != now) continue;
    const uint64_t count = cell.count.load(relaxed);
    if (count == 0) continue;
    sum.add({count, cell.sum_ns.load(relaxed), cell.min_ns.load(relaxed), cell.max_ns.load(relaxed),
             cell.bytes.load(relaxed)});
  }
  return sum;
}

uint64_t Registry::passed_of_all_time(size_t slot) const {
  uint64_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.cells[slot].passed.load(std::memory_order_relaxed);
  return sum;
}

void Registry::reset() {
  std::lock_guard lock(mutex_);
  generation.fetch_add(1, std::memory_order_relaxed);
  for (size_t slot = 0; slot < next_slot_; ++slot) passed_before_reset_[slot] = passed_of_all_time(slot);
}

struct GiveBack {
  Shard* shard = nullptr;
  ~GiveBack() {
    own_shard = nullptr;
    if (shard != nullptr) Registry::instance().give_back(*shard);
  }
};

}  // namespace

Shard& claim_shard() {
  thread_local GiveBack at_exit;
  if (at_exit.shard == nullptr) at_exit.shard = &Registry::instance().claim();
  own_shard = at_exit.shard;
  return *own_shard;
}

}  // namespace wait_slots

namespace {

WaitSummary summary_of(const std::string& name, const wait_slots::Event& event) {
  auto& registry = wait_slots::Registry::instance();
  WaitSummary summary;
  summary.name = name;
  summary.is_io = event.is_io;
  if (!event.is_io) {
    summary.total = registry.totals(event.slot);
    return summary;
  }
  for (size_t kind = 0; kind < std::size(summary.by_kind); ++kind) {
    summary.by_kind[kind] = registry.totals(event.slot + kind);
    summary.total.add(summary.by_kind[kind]);
  }
  return summary;
}

size_t register_event(std::string_view name_view, bool is_io) {
  const std::string name(name_view);
  const size_t slot = wait_slots::Registry::instance().slot_of(name, is_io);
  const wait_slots::Event event{slot, is_io};
  callback("counter", "commitd_wait_events_total",
           "Waits, by what for; one that found nothing in its way counts, too.", {{"event_name", name}},
           [name, event] { return static_cast<double>(summary_of(name, event).total.count); });
  callback("counter", "commitd_wait_event_seconds_total", "Time waited, by what for.", {{"event_name", name}},
           [name, event] { return static_cast<double>(summary_of(name, event).total.sum_ns) * 1e-9; });
  return slot;
}

}  // namespace

WaitEvent::WaitEvent(std::string_view name) : slot_(register_event(name, false)) {}
IoEvent::IoEvent(std::string_view name) : slot_(register_event(name, true)) {}

void switch_wait_events(bool on) {
  wait_slots::switched_on.store(on, std::memory_order_relaxed);
}

void WaitTotals::add(const WaitTotals& other) {
  if (other.count == 0) return;
  min_ns = count == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  count += other.count;
  sum_ns += other.sum_ns;
  bytes += other.bytes;
}

std::vector<WaitSummary> wait_summaries() {
  std::vector<WaitSummary> summaries;
  for (const auto& [name, event] : wait_slots::Registry::instance().events())
    summaries.push_back(summary_of(name, event));
  return summaries;
}

void reset_wait_events() {
  wait_slots::Registry::instance().reset();
}

}  // namespace commitd::observe

// How much memory the server may use for what grows with what clients ask for, and who uses how much of it.
// Whoever is about to grow reserves first, and answers its client with an error when there is no room: an
// error for one is better than the kernel's end for all.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

namespace commitd {

enum class MemoryUse : uint8_t {
  StorageCaches,  // block cache and memtables: reserved once, at start
  Transactions,   // what transactions have changed and not yet committed
  Rows,           // rows that statements keep: sorts, groups, subqueries, those to be changed
  Network,        // packets
  Statements,     // prepared statements
  RecentLog,      // for readers of the log: reserved once, at start
};
inline constexpr size_t kMemoryUses = 6;
std::string_view name_of(MemoryUse use);  // as a metric's label

class MemoryBudget {
 public:
  // The process's own; without a limit until set_limit().
  static MemoryBudget& process();

  void set_limit(uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t used(MemoryUse use) const {
    return by_use_[static_cast<size_t>(use)].load(std::memory_order_relaxed);
  }

  // What the process really has, which no estimate knows, and how it gives back what it does not use. Set
  // before others reserve.
  struct Resident {
    std::function<uint64_t()> bytes;
    std::function<void()> give_back;
  };
  void watch(Resident resident) { resident_ = std::move(resident); }

  // False, and nothing reserved, when that would be beyond the limit, or what is resident beyond it and the
  // program's own.
  bool reserve(MemoryUse use, uint64_t bytes);
  void release(MemoryUse use, uint64_t bytes);

 private:
  bool is_resident_beyond(uint64_t used, uint64_t bytes) const;

  Resident resident_;
  std::atomic<uint64_t> limit_{std::numeric_limits<uint64_t>::max()};
  std::atomic<uint64_t> used_{0};
  std::array<std::atomic<uint64_t>, kMemoryUses> by_use_{};
};

// One user's part, given back with it. Small needs cost nothing: reservations go in steps.
class MemoryReservation {
 public:
  explicit MemoryReservation(MemoryUse use, MemoryBudget& budget = MemoryBudget::process())
      : budget_(&budget), use_(use) {}
  MemoryReservation(MemoryReservation&& other) noexcept;
  MemoryReservation& operator=(MemoryReservation&& other) noexcept;
  ~MemoryReservation() { clear(); }

  // Makes sure that at least so much is reserved in all; false when there is no room.
  bool cover(uint64_t bytes) { return bytes <= held_ + kFree || grow(bytes); }
  bool add(uint64_t bytes);  // more than before; for users that only ever grow
  void clear();              // gives all back
  uint64_t held() const { return held_; }

 private:
  static constexpr uint64_t kFree = 16 * 1024;  // that much is anybody's without asking
  static constexpr uint64_t kStep = 64 * 1024;
  bool grow(uint64_t bytes);

  MemoryBudget* budget_;
  MemoryUse use_;
  uint64_t held_ = 0;
  uint64_t added_ = 0;
};

}  // namespace commitd

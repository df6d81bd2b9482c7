#include "base/memory_budget.h"

#include <algorithm>
#include <utility>

namespace commitd {

std::string_view name_of(MemoryUse use) {
  constexpr std::array<std::string_view, kMemoryUses> kNames = {
      "storage_caches", "transactions", "rows", "network", "statements", "recent_log"};
  return kNames[static_cast<size_t>(use)];
}

MemoryBudget& MemoryBudget::process() {
  static MemoryBudget budget;
  return budget;
}

bool MemoryBudget::reserve(MemoryUse use, uint64_t bytes) {
  const uint64_t limit = this->limit();
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit || used > limit - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  if (is_resident_beyond(used, bytes)) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  by_use_[static_cast<size_t>(use)].fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

// The limit is for what clients need: the program itself, and what its allocator cannot use, come on top.
bool MemoryBudget::is_resident_beyond(uint64_t used, uint64_t bytes) const {
  constexpr uint64_t kProgram = 32 << 20;
  const uint64_t limit = this->limit();
  const uint64_t most = limit + std::max(limit / 8, kProgram);
  if (!resident_.bytes || used < limit / 2 || resident_.bytes() + bytes <= most) return false;
  resident_.give_back();
  return resident_.bytes() + bytes > most;
}

void MemoryBudget::release(MemoryUse use, uint64_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  by_use_[static_cast<size_t>(use)].fetch_sub(bytes, std::memory_order_relaxed);
}

MemoryReservation::MemoryReservation(MemoryReservation&& other) noexcept
    : budget_(other.budget_),
      use_(other.use_),
      held_(std::exchange(other.held_, 0)),
      added_(std::exchange(other.added_, 0)) {}

MemoryReservation& MemoryReservation::operator=(MemoryReservation&& other) noexcept {
  if (this == &other) return *this;
  clear();
  budget_ = other.budget_;
  use_ = other.use_;
  held_ = std::exchange(other.held_, 0);
  added_ = std::exchange(other.added_, 0);
  return *this;
}

bool MemoryReservation::add(uint64_t bytes) {
  added_ += bytes;
  return cover(added_);
}

bool MemoryReservation::grow(uint64_t bytes) {
  const uint64_t wanted = (bytes + kStep - 1) / kStep * kStep;
  if (!budget_->reserve(use_, wanted - held_)) return false;
  held_ = wanted;
  return true;
}

void MemoryReservation::clear() {
  if (held_ != 0) budget_->release(use_, held_);
  held_ = added_ = 0;
}

}  // namespace commitd

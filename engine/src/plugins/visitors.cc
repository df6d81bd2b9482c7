#include "plugins/visitors.h"

#include <chrono>
#include <thread>

namespace commitd::plugins {
namespace {

constexpr auto kPause = std::chrono::microseconds(50);

}  // namespace

size_t Visitors::own_shard() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t shard = threads.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

void Visitors::wait_for_phase(size_t phase) {
  for (const Shard& shard : shards_) {
    while (shard.inside[phase].load(std::memory_order_seq_cst) != 0) std::this_thread::sleep_for(kPause);
  }
}

// One who has read the phase, and has not said yet that he is in it, may be in either.
void Visitors::wait_until_gone() {
  MutexLock lock(waiting_);
  for (size_t turn = 0; turn < kPhases; ++turn) {
    const size_t left = phase_.load(std::memory_order_relaxed);
    phase_.store((left + 1) % kPhases, std::memory_order_seq_cst);
    wait_for_phase(left);
  }
}

}  // namespace commitd::plugins

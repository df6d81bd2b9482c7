// Who is inside of something that another takes away: visitors come and go without a lock, and who has taken
// it away waits until those who may have seen it have left. (Sleepable RCU: two phases, so that those who
// come meanwhile are not waited for.)
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/mutex.h"

namespace commitd::plugins {

class Visitors {
 public:
  // From its making to its end.
  class Visit {
   public:
    explicit Visit(Visitors& visitors) : inside_(visitors.enter()) {}
    ~Visit() { inside_.fetch_sub(1, std::memory_order_release); }
    Visit(const Visit&) = delete;

   private:
    std::atomic<uint64_t>& inside_;
  };

  // Whoever came before the call has left when it returns: what was taken away before is seen by nobody.
  // Not from within a visit.
  void wait_until_gone() ABSL_LOCKS_EXCLUDED(waiting_);

 private:
  static constexpr size_t kShards = 64;
  static constexpr size_t kPhases = 2;
  struct alignas(64) Shard {
    std::array<std::atomic<uint64_t>, kPhases> inside{};
  };

  static size_t own_shard();
  std::atomic<uint64_t>& enter() {
    auto& inside = shards_[own_shard()].inside[phase_.load(std::memory_order_relaxed)];
    // In one order with what is taken away: either we are seen in here, or we see that it is gone.
    inside.fetch_add(1, std::memory_order_seq_cst);
    return inside;
  }
  void wait_for_phase(size_t phase);

  std::array<Shard, kShards> shards_;
  std::atomic<size_t> phase_{0};
  Mutex waiting_;
};

}  // namespace commitd::plugins

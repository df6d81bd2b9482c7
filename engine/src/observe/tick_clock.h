// A clock for short spans that are measured often: the processor's own counter where it is steady, which
// takes half the time of asking the system, and else the system's steady clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace commitd::observe {

class TickClock {
 public:
  using Ticks = uint64_t;

  static Ticks now() {
#if defined(__x86_64__)
    if (counter_is_steady_) return __builtin_ia32_rdtsc();
#endif
    return system_ticks();
  }
  // Counters of two processors may differ a little: no span is negative.
  static std::chrono::nanoseconds between(Ticks begin, Ticks end) {
    if (end <= begin) return std::chrono::nanoseconds(0);
    const auto scaled = static_cast<unsigned __int128>(end - begin) * nanoseconds_per_tick_;
    return std::chrono::nanoseconds(static_cast<int64_t>(scaled >> kFractionBits));
  }

 private:
  static constexpr int kFractionBits = 32;
  static Ticks system_ticks();
  static bool find_steady_counter();
  static uint64_t measure();

  static const bool counter_is_steady_;
  static const uint64_t nanoseconds_per_tick_;  // with so many bits behind the point
};

}  // namespace commitd::observe

#include "observe/tick_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace commitd::observe {
namespace {

using SystemClock = std::chrono::steady_clock;

// Long enough for some ten parts in a million.
constexpr std::chrono::milliseconds kMeasured{2};

// Both clocks at one moment: the closest of a few tries, since anything may come between two looks.
struct Moment {
  TickClock::Ticks ticks = 0;
  SystemClock::time_point time;

  static Moment now() {
    Moment best;
    TickClock::Ticks closest = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
      const auto before = TickClock::now();
      const auto time = SystemClock::now();
      const auto after = TickClock::now();
      if (after - before >= closest) continue;
      closest = after - before;
      best = {before + closest / 2, time};
    }
    return best;
  }
};

}  // namespace

const bool TickClock::counter_is_steady_ = TickClock::find_steady_counter();
const uint64_t TickClock::nanoseconds_per_tick_ = TickClock::measure();

TickClock::Ticks TickClock::system_ticks() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SystemClock::now().time_since_epoch()).count();
}

bool TickClock::find_steady_counter() {
#if defined(__x86_64__)
  constexpr unsigned kPowerManagement = 0x80000007, kInvariant = 1 << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kPowerManagement, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
#else
  return false;
#endif
}

uint64_t TickClock::measure() {
  if (!counter_is_steady_) return uint64_t{1} << kFractionBits;
  const Moment began = Moment::now();
  while (SystemClock::now() - began.time < kMeasured) {
  }
  const Moment ended = Moment::now();
  const auto took = std::chrono::nanoseconds(ended.time - began.time).count();
  return (static_cast<unsigned __int128>(took) << kFractionBits) / (ended.ticks - began.ticks);
}

}  // namespace commitd::observe

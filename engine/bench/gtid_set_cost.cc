// What it costs to add one GTID to a set with 10 to 1,000,000 intervals, and what seed 001's persister makes
// of the same: its list is walked from the head for each. CPU time of this thread, the best of several
// rounds, and the intervals that were passed, which hold on any machine. Then the seed's own 25,000 calls
// with a gap before each, by thousands.
//   ninja -C build/engine/release gtid_set_cost && build/engine/release/bench/gtid_set_cost
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "gtid/gtid_set.h"
#include "gtid/interval_list.h"

namespace {

using commitd::Gtid;
using commitd::GtidSet;
using commitd::IntervalList;
using commitd::Uuid;

const Uuid kServer = *Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562");
constexpr int kRounds = 5;

double cpu_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Every other number, so that none merges with another.
GtidSet with_intervals(uint64_t count) {
  GtidSet set;
  for (uint64_t i = 0; i < count; ++i) set.add({kServer, 2 * i + 1});
  return set;
}

// CPU time of one of `adds` calls, which go on behind the last number, a gap before each.
template <class Add>
double cost_of(uint64_t intervals, uint64_t adds, Add add) {
  double best = 1e30;
  uint64_t next = 2 * intervals + 1;
  for (int round = 0; round < kRounds; ++round) {
    const double start = cpu_nanoseconds();
    for (uint64_t i = 0; i < adds; ++i, next += 2) add(Gtid{kServer, next});
    best = std::min(best, (cpu_nanoseconds() - start) / static_cast<double>(adds));
  }
  return best;
}

// Of 1000 calls each, as the seed has them.
void print_averages() {
  constexpr uint64_t kAveraged = 1000, kCalls = 25'000;
  GtidSet set;
  IntervalList list;
  std::printf("\n%10s %14s %14s %16s\n", "calls", "the set, ns", "legacy, ns", "legacy, passed");
  for (uint64_t call = 0; call < kCalls; call += kAveraged) {
    double set_cost = 0, list_cost = 0;
    uint64_t walked = 0;
    for (uint64_t i = call; i < call + kAveraged; ++i) {
      GtidSet written;
      written.add({kServer, 2 * i + 1});
      const double start = cpu_nanoseconds();
      set.add(written);
      const double between = cpu_nanoseconds();
      walked += list.persist(written);
      list_cost += cpu_nanoseconds() - between;
      set_cost += between - start;
    }
    std::printf("%10lu %14.0f %14.0f %16lu\n", call + kAveraged, set_cost / kAveraged, list_cost / kAveraged,
                walked / kAveraged);
  }
}

}  // namespace

int main() {
  std::printf("%10s %14s %16s %14s %16s\n", "intervals", "add, ns", "with rows, ns", "legacy, ns",
              "legacy, passed");
  for (uint64_t intervals = 10; intervals <= 1'000'000; intervals *= 10) {
    GtidSet set = with_intervals(intervals);
    IntervalList list(set);
    const uint64_t adds = std::clamp<uint64_t>(intervals / 10, 2, 1000);

    const double add = cost_of(intervals, adds, [&](const Gtid& gtid) { set.add(gtid); });
    const double growth = cost_of(intervals + kRounds * adds, adds, [&](const Gtid& gtid) {
      GtidSet added;
      added.add(gtid);
      if (set.growth(added).made.empty()) std::puts("it was there");
      set.add(added);
    });
    uint64_t walked = 0, calls = 0;
    const double legacy = cost_of(intervals, std::min<uint64_t>(adds, 20), [&](const Gtid& gtid) {
      GtidSet written;
      written.add(gtid);
      walked += list.persist(written);
      ++calls;
    });
    std::printf("%10lu %14.0f %16.0f %14.0f %16lu\n", intervals, add, growth, legacy, walked / calls);
  }
  print_averages();
}

#pragma once

#include <cstdint>

namespace commitd::observe {

// Prometheus' usual process_* metrics, and the context switches that getrusage counts.
void register_process_metrics();
// 0 where that is not told.
uint64_t resident_bytes();

}  // namespace commitd::observe

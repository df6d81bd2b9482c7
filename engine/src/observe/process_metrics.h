#pragma once

namespace commitd::observe {

// Prometheus' usual process_* metrics, and the context switches that getrusage counts.
void register_process_metrics();

}  // namespace commitd::observe

// The row lock figures of engine/CONTROL.md.
#pragma once

#include <chrono>

namespace commitd::txn::lock_metrics {

void wait_began();
void wait_ended(std::chrono::nanoseconds waited);
void deadlock();
void timeout();

}  // namespace commitd::txn::lock_metrics

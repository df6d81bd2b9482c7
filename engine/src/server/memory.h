// How much memory the server may use, and how it is divided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "server/options.h"

namespace commitd::server {

// The limit of the control group this process is in (version 2 or 1), at most what the machine has. `root`:
// where /proc and /sys are, for tests.
uint64_t memory_limit(const std::string& root = "");

// Sets the process's budget, by the option or four fifths of that limit (the rest is for what is not counted:
// stacks, programs, what the allocator cannot use), and takes the storage engine's caches out of it. Where
// they would take more than half, `options` gets smaller ones.
void apply_memory_budget(Options& options);

// From now on reservations are measured against what the process has, too: `give_back` is the allocator's.
void watch_resident_memory(std::function<void()> give_back);

// How much of the newest log is kept for readers.
uint64_t recent_log_within_budget();

// How many row locks fit into the part of the budget that is meant for them; one more is error 1206.
size_t locks_within_budget();

}  // namespace commitd::server

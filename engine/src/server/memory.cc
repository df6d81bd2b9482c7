#include "server/memory.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/memory_budget.h"
#include "observe/metrics.h"
#include "observe/process_metrics.h"
#include "server/control_group.h"
#include "storage/engine.h"

namespace commitd::server {
namespace {

// "max": no limit.
void narrow(uint64_t& limit, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    uint64_t number = 0;
    const char* end = setting.data() + setting.size();
    if (std::from_chars(setting.data(), end, number).ec == std::errc()) limit = std::min(limit, number);
  }
}

void publish() {
  auto& budget = MemoryBudget::process();
  observe::callback("gauge", "commitd_memory_budget_bytes",
                    "Memory the server may use for its clients' needs.", {},
                    [&budget] { return static_cast<double>(budget.limit()); });
  for (size_t i = 0; i < kMemoryUses; ++i) {
    const auto use = static_cast<MemoryUse>(i);
    observe::callback("gauge", "commitd_memory_reserved_bytes", "Memory reserved from the budget, by use.",
                      {{"use", std::string(name_of(use))}},
                      [&budget, use] { return static_cast<double>(budget.used(use)); });
  }
}

}  // namespace

uint64_t memory_limit(const std::string& root) {
  uint64_t limit =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  narrow(limit, group_settings(root, "", "memory.max"));
  narrow(limit, group_settings(root, "memory", "memory.limit_in_bytes"));
  return limit;
}

void apply_memory_budget(Options& options) {
  auto& budget = MemoryBudget::process();
  budget.set_limit(options.memory_budget != 0 ? options.memory_budget : memory_limit() / 5 * 4);
  const uint64_t wanted =
      options.block_cache_size + storage::RocksOptions::kMostMemtables * options.write_buffer_size;
  const uint64_t most = budget.limit() / 2;
  if (wanted > most) {
    const double part = static_cast<double>(most) / static_cast<double>(wanted);
    options.block_cache_size = static_cast<uint64_t>(static_cast<double>(options.block_cache_size) * part);
    options.write_buffer_size = static_cast<uint64_t>(static_cast<double>(options.write_buffer_size) * part);
    spdlog::warn("memory budget={}: smaller caches block_cache_size={} write_buffer_size={}", budget.limit(),
                 options.block_cache_size, options.write_buffer_size);
  }
  budget.reserve(MemoryUse::RecentLog, recent_log_within_budget());
  budget.reserve(MemoryUse::StorageCaches, options.block_cache_size + storage::RocksOptions::kMostMemtables *
                                                                          options.write_buffer_size);
  publish();
}

void watch_resident_memory(std::function<void()> give_back) {
  MemoryBudget::process().watch({observe::resident_bytes, std::move(give_back)});
}

uint64_t recent_log_within_budget() {
  constexpr uint64_t kPart = 16, kMost = 32 << 20;
  return std::min(MemoryBudget::process().limit() / kPart, kMost);
}

size_t locks_within_budget() {
  constexpr uint64_t kPart = 8;
  constexpr uint64_t kBytesOfLock = 256;  // its key, its queue, its holder's entry
  return static_cast<size_t>(MemoryBudget::process().limit() / kPart / kBytesOfLock);
}

}  // namespace commitd::server

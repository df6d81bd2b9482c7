#include "server/memory.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/memory_budget.h"
#include "observe/metrics.h"

namespace commitd::server {
namespace {

// The engine fills one memtable while it writes the one before it.
constexpr uint64_t kMemtables = 2;

// "max" and files that are not there: no limit.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// The path of this process's group in the hierarchy of `controller` ("" = version 2).
std::string group_path(const std::string& root, const std::string& controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controller) return line.substr(second + 1);
  }
  return "/";
}

void narrow(uint64_t& limit, std::optional<uint64_t> other) {
  if (other) limit = std::min(limit, *other);
}

// A limit may be set on any group above, too. Inside a container the group's own path may not be visible:
// then the hierarchy's top is the group.
void narrow_by_groups(uint64_t& limit, const std::string& mount, std::string group, const char* file) {
  for (;;) {
    narrow(limit, number_in(mount + group + "/" + file));
    if (group.empty() || group == "/") return;
    group.erase(group.rfind('/'));
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
  const std::string mount = root + "/sys/fs/cgroup";
  narrow_by_groups(limit, mount, group_path(root, ""), "memory.max");
  narrow_by_groups(limit, mount + "/memory", group_path(root, "memory"), "memory.limit_in_bytes");
  return limit;
}

void apply_memory_budget(Options& options) {
  auto& budget = MemoryBudget::process();
  budget.set_limit(options.memory_budget != 0 ? options.memory_budget : memory_limit() / 5 * 4);
  const uint64_t wanted = options.block_cache_size + kMemtables * options.write_buffer_size;
  const uint64_t most = budget.limit() / 2;
  if (wanted > most) {
    const double part = static_cast<double>(most) / static_cast<double>(wanted);
    options.block_cache_size = static_cast<uint64_t>(static_cast<double>(options.block_cache_size) * part);
    options.write_buffer_size = static_cast<uint64_t>(static_cast<double>(options.write_buffer_size) * part);
    spdlog::warn("memory budget={}: smaller caches block_cache_size={} write_buffer_size={}", budget.limit(),
                 options.block_cache_size, options.write_buffer_size);
  }
  budget.reserve(MemoryUse::StorageCaches, options.block_cache_size + kMemtables * options.write_buffer_size);
  publish();
}

size_t locks_within_budget() {
  constexpr uint64_t kPart = 8;
  constexpr uint64_t kBytesOfLock = 256;  // its key, its queue, its holder's entry
  return static_cast<size_t>(MemoryBudget::process().limit() / kPart / kBytesOfLock);
}

}  // namespace commitd::server

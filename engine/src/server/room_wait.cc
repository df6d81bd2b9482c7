#include "server/room_wait.h"

#include <spdlog/spdlog.h>
#include <sys/statvfs.h>

#include <chrono>
#include <thread>

namespace commitd::server {
namespace {

constexpr std::chrono::seconds kBetweenLooks{1};
constexpr int kMostLooks = 30;
constexpr uint64_t kWorthATry = 1 << 20;

uint64_t free_bytes(const std::string& directory) {
  struct statvfs volume {};
  if (statvfs(directory.c_str(), &volume) != 0) return 0;
  return static_cast<uint64_t>(volume.f_bavail) * volume.f_frsize;
}

bool has_come(const sigset_t& signals) {
  sigset_t pending;
  sigpending(&pending);
  sigandset(&pending, &pending, &signals);
  return sigisemptyset(&pending) == 0;
}

}  // namespace

bool wait_for_room(const std::string& directory, const sigset_t& stop_signals, const Error& why) {
  const uint64_t before = free_bytes(directory);
  spdlog::error("the start waits for room on the volume of '{}', of which {} bytes are free: {}", directory,
                before, why.message);
  for (int looks = 0; looks < kMostLooks; ++looks) {
    std::this_thread::sleep_for(kBetweenLooks);
    if (has_come(stop_signals)) return false;
    if (free_bytes(directory) >= before + kWorthATry) break;
  }
  return true;
}

}  // namespace commitd::server

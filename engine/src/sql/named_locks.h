// GET_LOCK and its like: locks that are names and nothing else, held by sessions, in memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace commitd::sql {

class NamedLocks {
 public:
  // Names have no case. A session may take a lock that it holds again, and gives it back as often.
  bool try_take(std::string_view name, uint32_t session) ABSL_LOCKS_EXCLUDED(mutex_);
  // nullopt: nobody holds it; false: another session does.
  std::optional<bool> give_back(std::string_view name, uint32_t session) ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<uint32_t> holder(std::string_view name) const ABSL_LOCKS_EXCLUDED(mutex_);
  // How many it had, each counted as often as it was taken.
  uint64_t give_all_back(uint32_t session) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Held {
    uint32_t session = 0;
    uint64_t times = 0;  // never 0 while it is held
  };
  mutable Mutex mutex_;
  std::map<std::string, Held, std::less<>> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::sql

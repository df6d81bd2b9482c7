#include "sql/named_locks.h"

#include "base/check.h"
#include "base/text_case.h"

namespace commitd::sql {

bool NamedLocks::try_take(std::string_view name, uint32_t session) {
  MutexLock lock(mutex_);
  Held& held = held_[lower_case(name)];
  if (held.times != 0 && held.session != session) return false;
  held.session = session;
  ++held.times;
  return true;
}

std::optional<bool> NamedLocks::give_back(std::string_view name, uint32_t session) {
  MutexLock lock(mutex_);
  const auto found = held_.find(lower_case(name));
  if (found == held_.end()) return std::nullopt;
  if (found->second.session != session) return false;
  COMMITD_CHECK(found->second.times > 0, "a lock that is held is held at least once");
  if (--found->second.times == 0) held_.erase(found);
  return true;
}

std::optional<uint32_t> NamedLocks::holder(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = held_.find(lower_case(name));
  return found == held_.end() ? std::nullopt : std::optional(found->second.session);
}

uint64_t NamedLocks::give_all_back(uint32_t session) {
  MutexLock lock(mutex_);
  uint64_t count = 0;
  for (auto held = held_.begin(); held != held_.end();) {
    if (held->second.session == session) {
      count += held->second.times;
      held = held_.erase(held);
    } else {
      ++held;
    }
  }
  return count;
}

}  // namespace commitd::sql

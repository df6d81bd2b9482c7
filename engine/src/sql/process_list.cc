#include "sql/process_list.h"

#include "sql/session.h"

namespace commitd::sql {

void ProcessList::add(uint32_t id, Session* session, std::function<ProcessInfo()> describe) {
  std::lock_guard lock(mutex_);
  entries_[id] = {session, std::move(describe)};
}

void ProcessList::remove(uint32_t id) {
  std::lock_guard lock(mutex_);
  entries_.erase(id);
}

std::vector<ProcessInfo> ProcessList::list() const {
  std::lock_guard lock(mutex_);
  std::vector<ProcessInfo> out;
  out.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) out.push_back(entry.describe());
  return out;
}

size_t ProcessList::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

bool ProcessList::kill(uint32_t id, bool connection) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  found->second.session->kill(connection);
  return true;
}

std::string ProcessList::user_of(uint32_t id) const {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(id);
  return found == entries_.end() ? std::string() : found->second.describe().user;
}

}  // namespace commitd::sql

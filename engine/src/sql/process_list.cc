#include "sql/process_list.h"

#include <algorithm>

#include "observe/metrics.h"
#include "sql/session.h"

namespace commitd::sql {

void ProcessList::add(uint32_t id, Session* session, std::function<ProcessInfo()> describe,
                      const StatusCounters& status) {
  std::lock_guard lock(mutex_);
  entries_[id] = {session, std::move(describe), &status};
  most_ = std::max(most_, entries_.size());
}

void ProcessList::remove(uint32_t id) {
  named_locks_.give_all_back(id);
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  found->second.status->add_to(ended_);
  entries_.erase(found);
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

size_t ProcessList::most() const {
  std::lock_guard lock(mutex_);
  return most_;
}

StatusCounters::Values ProcessList::status_totals() const {
  std::lock_guard lock(mutex_);
  StatusCounters::Values sum = ended_;
  for (const auto& [id, entry] : entries_) entry.status->add_to(sum);
  return sum;
}

void ProcessList::flush_status(StatusCounters& of_session) {
  std::lock_guard lock(mutex_);
  of_session.add_to(ended_);
  of_session.clear();
  most_ = entries_.size();
}

bool ProcessList::kill(uint32_t id, bool connection) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  found->second.session->kill(connection);
  return true;
}

Task<void> ProcessList::close_locked(storage::Engine& engine, storage::ConnectionData& connection) {
  static auto& closed = observe::counter("commitd_connections_closed_locked_total",
                                         "Connections that engines were told to close under LOCK_thd_list.");
  const std::lock_guard lock(mutex_);
  closed.add();
  co_await engine.close_connection(connection);
}

std::string ProcessList::user_of(uint32_t id) const {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(id);
  return found == entries_.end() ? std::string() : found->second.describe().user;
}

}  // namespace commitd::sql

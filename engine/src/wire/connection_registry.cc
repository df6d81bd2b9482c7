#include "wire/connection_registry.h"

#include <algorithm>

namespace commitd::wire {

// Listed for as long as close() waits, however it ends.
class ConnectionRegistry::ClosingEntry {
 public:
  ClosingEntry(ConnectionRegistry& registry, Which which) : registry_(registry) {
    std::lock_guard lock(registry_.mutex_);
    for (RegisteredConnection* connection : registry_.connections_) {
      if (which == Which::All || connection->counts_as_client()) closing_.left.insert(connection);
    }
    registry_.closings_.push_back(&closing_);
    if (closing_.left.empty()) closing_.done.wake();
    for (RegisteredConnection* connection : closing_.left) connection->ask_to_end();
  }
  ~ClosingEntry() {
    std::lock_guard lock(registry_.mutex_);
    std::erase(registry_.closings_, &closing_);
  }

  Parker& done() { return closing_.done; }

 private:
  ConnectionRegistry& registry_;
  Closing closing_;
};

void ConnectionRegistry::add(RegisteredConnection& connection) {
  std::lock_guard lock(mutex_);
  connections_.insert(&connection);
}

void ConnectionRegistry::remove(RegisteredConnection& connection) {
  std::lock_guard lock(mutex_);
  connections_.erase(&connection);
  leave_place(connection);
  for (Closing* closing : closings_) {
    if (closing->left.erase(&connection) != 0 && closing->left.empty()) closing->done.wake();
  }
}

bool ConnectionRegistry::take_place(RegisteredConnection& connection, const std::string& user,
                                    uint32_t limit) {
  std::lock_guard lock(mutex_);
  leave_place(connection);
  uint32_t& taken = users_[user];
  if (limit != 0 && taken >= limit) return false;
  ++taken;
  connection.user_ = user;
  return true;
}

// Under the mutex.
void ConnectionRegistry::leave_place(RegisteredConnection& connection) {
  auto found = users_.find(connection.user_);
  if (connection.user_.empty() || found == users_.end()) return;
  if (--found->second == 0) users_.erase(found);
  connection.user_.clear();
}

uint32_t ConnectionRegistry::count() const {
  std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(connections_.size());
}

Task<void> ConnectionRegistry::close(Which which, Deadline deadline) {
  ClosingEntry closing(*this, which);
  co_await closing.done().park(deadline);
}

}  // namespace commitd::wire

// The connections of a server, for counting them and for ending them.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/parker.h"
#include "runtime/task.h"

namespace commitd::wire {

class RegisteredConnection {
 public:
  virtual ~RegisteredConnection() = default;
  // Both from any thread.
  virtual void ask_to_end() = 0;
  virtual bool counts_as_client() const = 0;  // not the operator, who gives a role, or reads the log

 private:
  friend class ConnectionRegistry;
  std::string user_;  // whose place it has taken; the registry's
};

class ConnectionRegistry {
 public:
  enum class Which { All, Clients };

  void add(RegisteredConnection& connection);
  void remove(RegisteredConnection& connection);
  uint32_t count() const;
  // Counts the connection among those of an account (and no longer among those of the one before it). False
  // when that account has `limit` of them already; 0 = no limit.
  bool take_place(RegisteredConnection& connection, const std::string& user, uint32_t limit);

  // Asks them to end and waits until they have, but not beyond the deadline. Connections that come later are
  // not its concern.
  Task<void> close(Which which, Deadline deadline);

 private:
  struct Closing {
    std::unordered_set<RegisteredConnection*> left;
    Parker done;
  };
  class ClosingEntry;

  void leave_place(RegisteredConnection& connection);

  mutable std::mutex mutex_;
  std::unordered_set<RegisteredConnection*> connections_;
  std::unordered_map<std::string, uint32_t> users_;
  std::vector<Closing*> closings_;
};

}  // namespace commitd::wire

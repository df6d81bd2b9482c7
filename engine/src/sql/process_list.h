// Who is connected and what they are doing: SHOW PROCESSLIST, KILL, Threads_connected.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/reactor.h"

namespace commitd::sql {

class Session;

struct ProcessInfo {
  uint32_t id = 0;
  std::string user, host, db, command, state, info;
  uint64_t seconds = 0;  // in this command
};

class ProcessList {
 public:
  // A session is listed from its construction to its destruction. `describe` is called under the list's lock,
  // from any thread.
  void add(uint32_t id, Session* session, std::function<ProcessInfo()> describe);
  void remove(uint32_t id);

  std::vector<ProcessInfo> list() const;
  size_t size() const;
  // KILL; false when there is no such session. The session cannot go away meanwhile.
  bool kill(uint32_t id, bool connection);
  // The account a session belongs to, for the privilege check of KILL; empty when there is no such session.
  std::string user_of(uint32_t id) const;

 private:
  struct Entry {
    Session* session;
    std::function<ProcessInfo()> describe;
  };
  mutable std::mutex mutex_;
  std::map<uint32_t, Entry> entries_;
};

}  // namespace commitd::sql

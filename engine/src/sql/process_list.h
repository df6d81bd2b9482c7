// Who is connected and what they are doing: SHOW PROCESSLIST, KILL, Threads_connected.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "observe/mutex.h"
#include "runtime/reactor.h"
#include "runtime/task.h"
#include "sql/named_locks.h"
#include "sql/status/status_counters.h"
#include "storage/engine.h"

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
  // What the session counts in `status` is counted here from then on.
  void add(uint32_t id, Session* session, std::function<ProcessInfo()> describe,
           const StatusCounters& status);
  void remove(uint32_t id);

  std::vector<ProcessInfo> list() const;
  size_t size() const;
  size_t most() const;  // at one time
  // Over all sessions that there are and were.
  StatusCounters::Values status_totals() const;
  // FLUSH STATUS: the session's counters start again at 0, the totals stay; so does the highest number of
  // sessions.
  void flush_status(StatusCounters& of_session);
  // KILL; false when there is no such session. The session cannot go away meanwhile.
  bool kill(uint32_t id, bool connection);
  // The account a session belongs to, for the privilege check of KILL; empty when there is no such session.
  std::string user_of(uint32_t id) const;
  // Of the sessions in the list; one that goes away gives back what it holds.
  NamedLocks& named_locks() { return named_locks_; }

  // commitd_close_connection_locked: a session ends its engines' connections under the list's lock, as MySQL
  // once did: nobody else comes, goes or looks meanwhile.
  std::atomic<bool>& closes_locked() { return closes_locked_; }
  // Only where the session has its thread to itself: it waits in there.
  Task<void> close_locked(storage::Engine& engine, storage::ConnectionData& connection);

 private:
  struct Entry {
    Session* session;
    std::function<ProcessInfo()> describe;
    const StatusCounters* status;
  };
  mutable observe::Mutex mutex_{"wait/synch/mutex/sql/LOCK_thd_list"};
  std::map<uint32_t, Entry> entries_;
  size_t most_ = 0;
  StatusCounters::Values ended_{};  // of sessions that are gone
  NamedLocks named_locks_;
  std::atomic<bool> closes_locked_{false};
};

}  // namespace commitd::sql

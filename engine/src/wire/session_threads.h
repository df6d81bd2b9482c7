// A thread of its own for each session (thread_handling=one-thread-per-connection): the same coroutine, alone
// on a reactor.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "runtime/reactor.h"

namespace commitd::wire {

class SessionThreads {
 public:
  SessionThreads() = default;
  SessionThreads(const SessionThreads&) = delete;
  ~SessionThreads() { stop(); }

  // Runs what `session` gives, on a new thread. Error 1135 when there is none to be had.
  Status start(std::function<Task<void>()> session);
  // Ends what still waits there, as a reactor's end does, and joins all threads. Nothing is started any more.
  void stop();
  size_t count() const;

 private:
  struct Running {
    std::thread thread;
    Reactor* reactor = nullptr;  // null until it runs
  };

  void run(uint64_t id, const std::function<Task<void>()>& session);
  void join_finished();

  mutable std::mutex mutex_;
  std::condition_variable one_ended_;
  bool stopping_ = false;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Running> running_;
  std::vector<std::thread> finished_;  // have left run(), are to be joined
};

}  // namespace commitd::wire

// What engines keep for one client's connection; it lives in the session (MySQL's ha_data).
#pragma once

#include <functional>
#include <memory>
#include <mutex>

namespace commitd::storage {

class ConnectionData {
 public:
  // An engine's own. Only the connection's coroutine touches it; what is still there when the session goes is
  // dropped without a word to anybody.
  class Part {
   public:
    virtual ~Part() = default;
  };
  std::unique_ptr<Part> federated;

  // While it exists, interrupt() calls `end`. Whoever waits looks, once it exists, whether he was killed
  // before.
  class Wait {
   public:
    Wait(ConnectionData& data, std::function<void()> end);
    ~Wait();
    Wait(const Wait&) = delete;

   private:
    ConnectionData& data_;
  };

  // KILL, from any thread: a wait for another server ends now.
  void interrupt();

 private:
  std::mutex mutex_;
  std::function<void()> end_wait_;
};

}  // namespace commitd::storage

#include "wire/session_threads.h"

#include <sys/prctl.h>

#include <system_error>
#include <utility>

#include "base/error_codes.h"

namespace commitd::wire {

namespace {

Task<void> run_and_stop(Reactor& reactor, Task<void> session) {
  co_await session;
  reactor.stop();
}

}  // namespace

Status SessionThreads::start(std::function<Task<void>()> session) {
  join_finished();
  std::lock_guard lock(mutex_);
  if (stopping_) return make_error(er::kServerShutdown, "Server shutdown in progress");
  const uint64_t id = ++last_id_;
  Running& running = running_[id];
  try {
    running.thread = std::thread([this, id, session = std::move(session)] { run(id, session); });
  } catch (const std::system_error& failed) {
    running_.erase(id);
    return make_error(er::kCantCreateThread,
                      "Can't create a new thread (errno {}); if you are not out of available memory, you can "
                      "consult the manual for a possible OS-dependent bug",
                      failed.code().value());
  }
  return {};
}

void SessionThreads::run(uint64_t id, const std::function<Task<void>()>& session) {
  prctl(PR_SET_NAME, "session");
  {
    Reactor reactor("session");
    {
      std::lock_guard lock(mutex_);
      running_[id].reactor = &reactor;
      if (stopping_) reactor.stop();
    }
    reactor.spawn(run_and_stop(reactor, session()));
    reactor.run();
    std::lock_guard lock(mutex_);
    running_[id].reactor = nullptr;
  }
  std::lock_guard lock(mutex_);
  auto ended = running_.find(id);
  finished_.push_back(std::move(ended->second.thread));
  running_.erase(ended);
  one_ended_.notify_all();
}

void SessionThreads::join_finished() {
  std::vector<std::thread> finished;
  {
    std::lock_guard lock(mutex_);
    finished.swap(finished_);
  }
  for (std::thread& thread : finished) thread.join();
}

void SessionThreads::stop() {
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    for (auto& [id, running] : running_) {
      if (running.reactor != nullptr) running.reactor->stop();
    }
    one_ended_.wait(lock, [this] { return running_.empty(); });
  }
  join_finished();
}

size_t SessionThreads::count() const {
  std::lock_guard lock(mutex_);
  return running_.size();
}

}  // namespace commitd::wire

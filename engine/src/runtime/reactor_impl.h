// The inside of a reactor; only runtime/ includes this.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <string>

#include "runtime/drivers.h"
#include "runtime/fd_watch.h"
#include "runtime/idle_spin.h"
#include "runtime/reactor.h"
#include "runtime/root_task.h"

namespace commitd {

class Reactor::Impl {
 public:
  Impl(Reactor& owner, std::string name);
  ~Impl();

  void run();
  void stop();
  void post(Posted& work);
  void start(Task<void> task);  // on this thread
  void let_others_go_first();

  void watch(int fd, FdWatch& watch);  // its input
  void watch_output(int fd, FdWatch& watch, bool on);
  void unwatch(int fd);
  void forget(FdWatch& watch);  // events that have come for it already

  TimerHeap timers;

 private:
  class Return;
  void drive();
  bool is_over();
  bool others_wait();
  void run_posted();
  void wait_for_events();
  int poll(int timeout);
  int milliseconds_to_wait() const;
  void received(int count);
  void dispatch();
  void control(int operation, int fd, FdWatch& watch, uint32_t output);
  void write_wake_fd();

  Reactor& owner_;
  std::string name_;
  int epoll_fd_;
  int wake_fd_;
  PostQueue posted_;
  // True from just before the reactor looks at the queue for the last time until somebody has taken on waking
  // it: a post that sees it true writes to the eventfd, all others leave their work to the batch that is on
  // its way.
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> stopping_{false};
  // Threads inside post() or stop(). What they post may end the reactor before they have left it; its
  // destructor waits for them.
  std::atomic<int> visitors_{0};
  IdleSpin idle_;
  RootTasks roots_;
  // What is being worked off: members, as the next driver goes on where the last one was.
  Posted* batch_ = nullptr;
  std::array<epoll_event, 128> events_;
  int event_count_ = 0, next_event_ = 0;
  size_t left_by_ = 0;  // drivers in the middle of plain code
  Drivers drivers_;     // ends first
};

}  // namespace commitd

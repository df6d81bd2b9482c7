// The threads that drive one reactor, one at a time: its own, and others that stand in for it while plain
// code, which cannot be suspended, lets others go first. What belongs to the reactor is the driver's alone;
// it goes from one to the next under the mutex.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace commitd {

class Drivers {
 public:
  // `drive` returns when the reactor ends.
  Drivers(std::string name, std::function<void()> drive) : name_(std::move(name)), drive_(std::move(drive)) {}
  ~Drivers();

  // Where a thread that does not drive waits, on its own stack.
  struct Seat {
    std::condition_variable changed;
    bool drives = false;
  };

  // All by the driver. Another thread drives until somebody gives the wheel back to `mine`. False at once
  // when there is none to be had; `before` is called in between.
  bool leave(Seat& mine, const std::function<void()>& before);
  // The thread of that seat drives; the caller rests, and drives again when it is wanted, or returns when all
  // is over.
  void give_back(Seat& to);

  // The reactor has come to its end. Every thread returns from what it called here.
  void end();
  bool ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  bool have_one_resting(std::unique_lock<std::mutex>& lock);
  void stand_in();
  void rest(std::unique_lock<std::mutex>& lock, Seat& seat);
  static void put_at_wheel(Seat& seat);

  const std::string name_;
  const std::function<void()> drive_;
  std::mutex mutex_;
  std::condition_variable one_rests_;
  std::vector<Seat*> resting_;
  std::vector<std::thread> threads_;
  std::atomic<bool> ended_{false};
};

}  // namespace commitd

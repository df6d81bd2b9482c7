// Work for a reactor, posted by any thread. Lock-free: posting is one compare-and-swap, taking everything is
// one exchange.
#pragma once

#include <atomic>

namespace commitd {

// One piece of posted work. Whoever posts it keeps it alive until run() is called; from then on it is the
// callee's.
class Posted {
 public:
  virtual ~Posted() = default;
  virtual void run() = 0;
  virtual void discard() {}  // instead of run(), when the reactor goes away first

 private:
  friend class PostQueue;
  Posted* next_ = nullptr;
};

class PostQueue {
 public:
  bool empty() const { return newest_.load(std::memory_order_seq_cst) == nullptr; }

  void push(Posted& work) {
    Posted* newest = newest_.load(std::memory_order_relaxed);
    do {
      work.next_ = newest;
    } while (
        !newest_.compare_exchange_weak(newest, &work, std::memory_order_seq_cst, std::memory_order_relaxed));
  }

  // Everything posted so far, the oldest first; null when there is nothing.
  Posted* take_all() { return oldest_first(newest_.exchange(nullptr, std::memory_order_acquire)); }
  // Of what take_all() gave: takes the first piece off. From then on its life may end.
  static Posted& take_first(Posted*& batch) {
    Posted& first = *batch;
    batch = first.next_;
    return first;
  }

 private:
  static Posted* oldest_first(Posted* newest) {
    Posted* reversed = nullptr;
    while (newest) {
      Posted* next = newest->next_;
      newest->next_ = reversed;
      reversed = newest;
      newest = next;
    }
    return reversed;
  }

  std::atomic<Posted*> newest_{nullptr};
};

}  // namespace commitd

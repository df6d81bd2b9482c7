#include "runtime/timer.h"

namespace commitd {

void TimerHeap::add(Timer& timer, Deadline deadline) {
  timer.deadline_ = deadline;
  heap_.push_back(&timer);
  timer.place_ = heap_.size() - 1;
  sift_up(timer.place_);
}

void TimerHeap::remove(Timer& timer) {
  if (!timer.armed()) return;
  std::size_t place = timer.place_;
  timer.place_ = Timer::kNowhere;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (last == &timer) return;
  put(place, last);
  sift_up(place);
  sift_down(last->place_);
}

void TimerHeap::fire_due(Deadline now) {
  while (!heap_.empty() && heap_.front()->deadline_ <= now) {
    Timer* due = heap_.front();
    remove(*due);
    due->fire();
  }
}

void TimerHeap::put(std::size_t place, Timer* timer) {
  heap_[place] = timer;
  timer->place_ = place;
}

void TimerHeap::sift_up(std::size_t place) {
  Timer* moving = heap_[place];
  while (place > 0) {
    std::size_t parent = (place - 1) / 2;
    if (heap_[parent]->deadline_ <= moving->deadline_) break;
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, moving);
}

void TimerHeap::sift_down(std::size_t place) {
  Timer* moving = heap_[place];
  for (;;) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1]->deadline_ < heap_[child]->deadline_) ++child;
    if (moving->deadline_ <= heap_[child]->deadline_) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, moving);
}

}  // namespace commitd

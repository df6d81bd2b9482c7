// A statement that computes for long looks up now and then: whether it was killed, whether its client has
// gone, whether its time is over, and whether others of its reactor have waited long enough.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/reactor.h"
#include "runtime/task.h"

namespace commitd::sql {

struct SessionState;

class Turn {
 public:
  // One unit of work, a row mostly. 1317 when the statement was killed or its client has gone, 3024 when its
  // time is over.
  Status count(const SessionState& session) { return --left_ != 0 ? Status() : look(session); }
  // The same at once, after what took as long as many units.
  Status look(const SessionState& session);
  bool is_over() const { return over_ && !plain_code_; }

  // max_execution_time; 0: none.
  void end_after(uint64_t milliseconds);

  // co_await: when the turn is over, others go first.
  class Pause;
  Pause give_up();
  // co_await: one unit of work, and a pause when it was the turn's last. Gives what count() says.
  class Step;
  Step take(const SessionState& session);

  // As long as it lives nothing may be suspended: it is look() that lets others go first.
  class PlainCode;

 private:
  static constexpr uint32_t kMostUnits = 128;

  void let_others_go_first();
  void begin_again() {
    over_ = false;
    began_ = looked_ = Deadline();
  }

  uint32_t left_ = kMostUnits, units_ = kMostUnits;  // until it looks at the clock
  Deadline began_{}, looked_{};                      // zero: at the next look
  Deadline end_ = kNoDeadline;
  bool over_ = false, plain_code_ = false;
};

class Turn::Pause {
 public:
  explicit Pause(Turn& turn) : turn_(turn) {}
  bool await_ready() const { return !turn_.is_over() || Reactor::current() == nullptr; }
  void await_suspend(std::coroutine_handle<> waiter) const { Reactor::current()->post(waiter); }
  void await_resume() const {
    if (turn_.is_over()) turn_.begin_again();
  }

 private:
  Turn& turn_;
};

class Turn::Step {
 public:
  Step(Turn& turn, Status status) : pause_(turn), status_(std::move(status)) {}
  bool await_ready() const { return pause_.await_ready(); }
  void await_suspend(std::coroutine_handle<> waiter) const { pause_.await_suspend(waiter); }
  Status await_resume() {
    pause_.await_resume();
    return std::move(status_);
  }

 private:
  Pause pause_;
  Status status_;
};

class Turn::PlainCode {
 public:
  explicit PlainCode(Turn& turn) : turn_(turn), before_(std::exchange(turn.plain_code_, true)) {}
  ~PlainCode() { turn_.plain_code_ = before_; }
  PlainCode(const PlainCode&) = delete;

 private:
  Turn& turn_;
  bool before_;
};

inline Turn::Pause Turn::give_up() {
  return Pause(*this);
}
inline Turn::Step Turn::take(const SessionState& session) {
  return Step(*this, count(session));
}

// The time in a hint /*+ MAX_EXECUTION_TIME(milliseconds) */ behind SELECT; `otherwise` when there is none.
uint64_t hinted_execution_time(std::string_view select, uint64_t otherwise);

// Sorts, stable, in steps between which the turn may end.
template <class T, class Before>
Task<Status> sort_in_turns(Turn& turn, const SessionState& session, std::vector<T>& items, Before before) {
  constexpr size_t kStep = 4096;
  for (size_t begin = 0; begin < items.size(); begin += kStep) {
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
    std::stable_sort(first, first + static_cast<std::ptrdiff_t>(std::min(kStep, items.size() - begin)),
                     before);
    if (items.size() > kStep) COMMITD_CO_RETURN_IF_ERROR(turn.look(session));
    co_await turn.give_up();
  }
  std::vector<T> merged;
  for (size_t width = kStep; width < items.size(); width *= 2) {
    merged.clear();
    merged.reserve(items.size());
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t left = begin, right = std::min(begin + width, items.size());
      const size_t middle = right, end = std::min(begin + 2 * width, items.size());
      while (left < middle || right < end) {
        const bool take_right = left == middle || (right < end && before(items[right], items[left]));
        merged.push_back(std::move(items[take_right ? right++ : left++]));
        if (merged.size() % kStep != 0) continue;
        COMMITD_CO_RETURN_IF_ERROR(turn.look(session));
        co_await turn.give_up();
      }
    }
    items.swap(merged);
  }
  co_return Status();
}

}  // namespace commitd::sql

// What is noted again and again and kept for as long as it takes: of many, every second one, then every
// fourth and so on; and the newest, which the next one takes the place of until it is its turn to stay.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

namespace commitd::replication {

template <class T>
class Thinned {
 public:
  static constexpr size_t kMost = 1024;

  void add(T one) {
    if (kept_.empty()) stride_ = since_ = 1;
    if (!kept_.empty() && since_ < stride_) {
      kept_.back() = std::move(one);
      ++since_;
      return;
    }
    if (kept_.size() == kMost) thin();
    kept_.push_back(std::move(one));
    since_ = 1;
  }
  bool empty() const { return kept_.empty(); }
  const T& front() const { return kept_.front(); }
  void pop_front() { kept_.pop_front(); }
  void clear() { kept_.clear(); }
  auto begin() { return kept_.begin(); }
  auto end() { return kept_.end(); }
  auto begin() const { return kept_.begin(); }
  auto end() const { return kept_.end(); }

 private:
  void thin() {
    std::deque<T> kept;
    for (size_t i = 0; i < kept_.size(); i += 2) kept.push_back(std::move(kept_[i]));
    kept_ = std::move(kept);
    stride_ *= 2;
  }

  std::deque<T> kept_;
  size_t stride_ = 1, since_ = 1;  // of so many one stays; how many the newest stands for
};

}  // namespace commitd::replication

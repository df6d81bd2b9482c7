// What an input decides: one choice after the other. Behind its end they go on at random, but always the same
// way for the same input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

namespace commitd::fuzz {

class Choices {
 public:
  explicit Choices(std::span<const uint8_t> input)
      : input_(input),
        behind_(std::hash<std::string_view>()({reinterpret_cast<const char*>(input.data()), input.size()})) {}

  size_t below(size_t count) {
    if (at_ >= input_.size()) return behind_() % count;
    return input_[at_++] % count;
  }
  bool one_in(size_t count) { return below(count) == 0; }
  bool flip() { return below(2) == 0; }
  template <class Range>
  const auto& of(const Range& range) {
    return range[below(std::size(range))];
  }

 private:
  std::span<const uint8_t> input_;
  size_t at_ = 0;
  std::mt19937_64 behind_;
};

}  // namespace commitd::fuzz

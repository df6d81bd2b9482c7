// The memory of one statement: everything its syntax tree consists of lies here and goes away at once. Nodes
// are never destroyed one by one, so they must not own anything outside the arena (string_view and ast::List
// are fine).
#pragma once

#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <string_view>
#include <utility>

namespace commitd::sql {

class Arena {
 public:
  Arena() : resource_(first_, sizeof first_) {}
  Arena(const Arena&) = delete;

  template <class T, class... Args>
  T* make(Args&&... args) {
    return new (resource_.allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  char* bytes(size_t size) { return static_cast<char*>(resource_.allocate(size, 1)); }
  std::string_view copy(std::string_view text) {
    char* to = bytes(text.size());
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }
  std::pmr::memory_resource* resource() { return &resource_; }
  void reset() { resource_.release(); }

 private:
  alignas(16) std::byte first_[4096];  // enough for the statements of an OLTP load
  std::pmr::monotonic_buffer_resource resource_;
};

}  // namespace commitd::sql

// A library that was opened with dlopen, until it goes.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace commitd::plugins {

class SharedLibrary {
 public:
  // `unloads`: it leaves memory with the last who has it open; otherwise its code stays, so that whoever
  // looks at addresses later (a leak report) still finds what is there. Error 1126.
  static Result<SharedLibrary> open(const std::string& path, bool unloads);

  SharedLibrary() = default;
  SharedLibrary(SharedLibrary&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SharedLibrary& operator=(SharedLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~SharedLibrary();

  void* symbol(const char* name) const;  // nullptr when there is none

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_ = nullptr;
};

}  // namespace commitd::plugins

// The error type of the whole server: MySQL's error number and a message. Nothing in commitd throws on
// purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace commitd {

struct Error {
  uint16_t code = 0;  // MySQL's number, see base/error_codes.h
  std::string message;

  // The five characters MySQL sends with this number ("HY000" where MySQL has nothing better).
  std::string_view sqlstate() const;
};

template <class... Args>
Error make_error(uint16_t code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() & { return *error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

// Leave the enclosing function (or coroutine) with the error of a failed Status or Result.
#define COMMITD_RETURN_IF_ERROR(expression)           \
  do {                                                \
    if (auto status_ = (expression); !status_.ok()) { \
      return std::move(status_).error();              \
    }                                                 \
  } while (false)
#define COMMITD_CO_RETURN_IF_ERROR(expression)        \
  do {                                                \
    if (auto status_ = (expression); !status_.ok()) { \
      co_return std::move(status_).error();           \
    }                                                 \
  } while (false)

}  // namespace commitd

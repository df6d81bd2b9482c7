#pragma once

#include <optional>
#include <type_traits>
#include <utility>

namespace commitd {

namespace detail {

template <class T>
Task<void> run_and_stop(Reactor& reactor, Task<T> task, std::optional<T>& result) {
  result.emplace(co_await task);
  reactor.stop();
}

inline Task<void> run_and_stop(Reactor& reactor, Task<void> task) {
  co_await task;
  reactor.stop();
}

}  // namespace detail

template <class T>
T run_blocking(Task<T> task) {
  Reactor reactor("blocking");
  if constexpr (std::is_void_v<T>) {
    reactor.spawn(detail::run_and_stop(reactor, std::move(task)));
    reactor.run();
  } else {
    std::optional<T> result;
    reactor.spawn(detail::run_and_stop(reactor, std::move(task), result));
    reactor.run();
    return std::move(*result);
  }
}

}  // namespace commitd

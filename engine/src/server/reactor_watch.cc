#include "server/reactor_watch.h"

#include <algorithm>

namespace commitd::server {

Task<void> ReactorWatch::run() {
  for (;;) {
    look();
    co_await sleep_until(Clock::now() + kPeriod);
  }
}

void ReactorWatch::look() {
  for (Watched& watched : watched_) look_at(watched);
}

void ReactorWatch::look_at(Watched& watched) {
  if (!watched.answered->exchange(false)) {
    ++watched.silent;  // the question still lies there
    return;
  }
  watched.silent = 0;
  watched.reactor->post([answered = watched.answered] { answered->store(true); });
}

std::optional<std::string> ReactorWatch::standing_still() const {
  const auto found = std::find_if(watched_.begin(), watched_.end(),
                                  [](const Watched& watched) { return watched.silent >= kPatience; });
  if (found == watched_.end()) return {};
  return found->name;
}

}  // namespace commitd::server

// Whether the reactors turn: each is asked again and again to say so. One that has been silent for a number
// of looks stands still. Looks are counted, and no time is taken: after the whole process was stopped for a
// while nobody is blamed.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/reactor.h"
#include "runtime/task.h"

namespace commitd::server {

class ReactorWatch {
 public:
  static constexpr std::chrono::milliseconds kPeriod{250};
  static constexpr int kPatience = 20;  // looks

  // The reactor must live as long as look() is called.
  void add(std::string name, Reactor& reactor) { watched_.push_back({std::move(name), &reactor}); }

  // Looks for ever; ends with its reactor. The rest is that reactor's as well.
  Task<void> run();
  void look();
  // Its name.
  std::optional<std::string> standing_still() const;

 private:
  struct Watched {
    std::string name;
    Reactor* reactor;
    std::shared_ptr<std::atomic<bool>> answered = std::make_shared<std::atomic<bool>>(true);
    int silent = 0;  // looks
  };
  static void look_at(Watched& watched);

  std::vector<Watched> watched_;
};

}  // namespace commitd::server

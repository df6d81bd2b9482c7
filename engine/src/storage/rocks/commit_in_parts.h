// While a transaction that is too large for one batch is taken in parts, everybody who looks at the engine
// sees it as it was before.
#pragma once

#include <atomic>
#include <mutex>

#include "storage/engine.h"

namespace commitd::storage {

class PartsGate {
 public:
  // What look(before) gives, which sees all of such a transaction or nothing. `before`: the snapshot to look
  // at; null when there is no need for one. It may be called several times: the last one counts.
  template <class Look>
  auto whole(const Look& look);

  // From its making to its end the parts are written.
  class Commit {
   public:
    Commit(PartsGate& gate, SnapshotPtr before);
    ~Commit();
    Commit(const Commit&) = delete;

   private:
    PartsGate& gate_;
  };

 private:
  SnapshotPtr before();

  std::atomic<uint64_t> changes_{0};  // odd: parts are being written
  std::mutex before_mutex_;
  SnapshotPtr before_;
};

// Who has looked while nothing began and nothing ended has seen no part of anything.
template <class Look>
auto PartsGate::whole(const Look& look) {
  for (;;) {
    const uint64_t changes = changes_.load();
    if (changes % 2 == 0) {
      auto seen = look(SnapshotPtr());
      if (changes_.load() == changes) return seen;
    } else if (SnapshotPtr snapshot = before()) {
      return look(snapshot);
    }
  }
}

}  // namespace commitd::storage

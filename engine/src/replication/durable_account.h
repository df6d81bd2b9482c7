// What a connection to the source has handed to the own log, and how much of it is durable. The log thread
// may be the last that holds it; so nothing in here may belong to a reactor, as sockets do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "replication/semisync_protocol.h"
#include "replication/signal.h"
#include "runtime/reactor.h"

namespace commitd::replication {

class DurableAccount {
 public:
  explicit DurableAccount(Reactor& home) : home_(home) {}

  void handed(uint64_t bytes);  // one transaction
  uint64_t bytes_on_the_way() const;
  // Transactions.
  uint64_t handed_transactions() const;
  uint64_t durable_transactions() const;
  // The newest place that the source waits for; each is given out once.
  std::optional<Acknowledgement> take_newest();

  // On the log thread: one of `bytes` is durable, and with them what `acknowledgement` names.
  static void note_durable(const std::shared_ptr<DurableAccount>& account, uint64_t bytes,
                           const std::optional<Acknowledgement>& acknowledgement);

  // On the reactor only.
  Signal acknowledge;  // something became durable that the source may wait for
  Signal progress;     // something became durable

 private:
  void tell();

  Reactor& home_;
  mutable Mutex mutex_;
  uint64_t bytes_on_the_way_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t handed_ ABSL_GUARDED_BY(mutex_) = 0, durable_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Acknowledgement> newest_ ABSL_GUARDED_BY(mutex_);
  bool notice_posted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace commitd::replication

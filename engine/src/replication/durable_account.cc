#include "replication/durable_account.h"

#include <utility>

namespace commitd::replication {

void DurableAccount::handed(uint64_t bytes) {
  MutexLock lock(mutex_);
  bytes_on_the_way_ += bytes;
  ++handed_;
}

uint64_t DurableAccount::bytes_on_the_way() const {
  MutexLock lock(mutex_);
  return bytes_on_the_way_;
}

uint64_t DurableAccount::handed_transactions() const {
  MutexLock lock(mutex_);
  return handed_;
}
uint64_t DurableAccount::durable_transactions() const {
  MutexLock lock(mutex_);
  return durable_;
}

std::optional<Acknowledgement> DurableAccount::take_newest() {
  MutexLock lock(mutex_);
  return std::exchange(newest_, std::nullopt);
}

// One notice on its way to the reactor stands for all that becomes durable until it arrives.
void DurableAccount::note_durable(const std::shared_ptr<DurableAccount>& account, uint64_t bytes,
                                  const std::optional<Acknowledgement>& acknowledgement) {
  {
    MutexLock lock(account->mutex_);
    account->bytes_on_the_way_ -= bytes;
    ++account->durable_;
    if (acknowledgement) account->newest_ = acknowledgement;
    if (std::exchange(account->notice_posted_, true)) return;
  }
  account->home_.post(std::function<void()>([account] { account->tell(); }));
}

void DurableAccount::tell() {
  {
    MutexLock lock(mutex_);
    notice_posted_ = false;
  }
  acknowledge.set();
  progress.set();
}

}  // namespace commitd::replication

#include "storage/connection_data.h"

#include <utility>

namespace commitd::storage {

ConnectionData::Wait::Wait(ConnectionData& data, std::function<void()> end) : data_(data) {
  const std::lock_guard lock(data_.mutex_);
  data_.end_wait_ = std::move(end);
}

ConnectionData::Wait::~Wait() {
  const std::lock_guard lock(data_.mutex_);
  data_.end_wait_ = nullptr;
}

// Under the lock: what the wait refers to must not go away meanwhile.
void ConnectionData::interrupt() {
  const std::lock_guard lock(mutex_);
  if (end_wait_) end_wait_();
}

}  // namespace commitd::storage

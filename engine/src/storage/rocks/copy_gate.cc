#include "storage/rocks/copy_gate.h"

namespace commitd::storage {

void CopyGate::become_incomplete() {
  std::unique_lock lock(mutex_);
  if (incomplete_) return;
  changed_.wait(lock, [this] { return copies_ == 0; });
  incomplete_ = true;
}

void CopyGate::become_whole() {
  std::lock_guard lock(mutex_);
  incomplete_ = false;
  changed_.notify_all();
}

CopyGate::Copy::Copy(CopyGate& gate) : gate_(gate) {
  std::unique_lock lock(gate_.mutex_);
  ++gate_.copies_;
  gate_.changed_.wait(lock, [this] { return !gate_.incomplete_; });
}

CopyGate::Copy::~Copy() {
  std::lock_guard lock(gate_.mutex_);
  --gate_.copies_;
  gate_.changed_.notify_all();
}

}  // namespace commitd::storage

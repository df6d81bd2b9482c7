#include "storage/rocks/copy_gate.h"

namespace commitd::storage {

void CopyGate::become_incomplete() {
  MutexLock lock(mutex_);
  if (incomplete_) return;
  while (copies_ != 0) changed_.wait(lock);
  incomplete_ = true;
}

void CopyGate::become_whole() {
  MutexLock lock(mutex_);
  incomplete_ = false;
  changed_.notify_all();
}

CopyGate::Copy::Copy(CopyGate& gate) : gate_(gate) {
  MutexLock lock(gate_.mutex_);
  ++gate_.copies_;
  while (gate_.incomplete_) gate_.changed_.wait(lock);
}

CopyGate::Copy::~Copy() {
  MutexLock lock(gate_.mutex_);
  --gate_.copies_;
  gate_.changed_.notify_all();
}

}  // namespace commitd::storage

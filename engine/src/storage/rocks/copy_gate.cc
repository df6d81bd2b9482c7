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
  incomplete_ = stalled_ = false;
  changed_.notify_all();
}

void CopyGate::stall() {
  MutexLock lock(mutex_);
  stalled_ = true;
  changed_.notify_all();
}

CopyGate::Copy::Copy(CopyGate& gate) : gate_(gate) {
  MutexLock lock(gate_.mutex_);
  ++gate_.copies_;
  while (gate_.incomplete_ && !gate_.stalled_) gate_.changed_.wait(lock);
  possible_ = !gate_.incomplete_;
}

CopyGate::Copy::~Copy() {
  MutexLock lock(gate_.mutex_);
  --gate_.copies_;
  gate_.changed_.notify_all();
}

}  // namespace commitd::storage

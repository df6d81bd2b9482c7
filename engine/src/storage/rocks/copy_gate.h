// Copies of the engine's files are made while it is what a prefix of the log makes of it: not while parts of
// a transaction are there, or one that has others in front of it which are not.
#pragma once

#include <cstddef>

#include "base/mutex.h"

namespace commitd::storage {

class CopyGate {
 public:
  // For who commits. Waits for the copies that are wanted by now; nothing when it is incomplete already.
  void become_incomplete();
  void become_whole();
  // It stays incomplete until there is room, which may be long: nobody waits for that.
  void stall();

  // While it lives the engine stays whole; only if it is possible().
  class Copy {
   public:
    explicit Copy(CopyGate& gate);
    ~Copy();
    Copy(const Copy&) = delete;
    bool possible() const { return possible_; }

   private:
    CopyGate& gate_;
    bool possible_ = true;
  };

 private:
  Mutex mutex_;
  CondVar changed_;
  bool incomplete_ ABSL_GUARDED_BY(mutex_) = false, stalled_ ABSL_GUARDED_BY(mutex_) = false;
  size_t copies_ ABSL_GUARDED_BY(mutex_) = 0;  // that are made or waited for
};

}  // namespace commitd::storage

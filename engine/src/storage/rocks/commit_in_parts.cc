#include "storage/rocks/commit_in_parts.h"

#include <utility>

namespace commitd::storage {

SnapshotPtr PartsGate::before() {
  std::lock_guard lock(before_mutex_);
  return before_;
}

PartsGate::Commit::Commit(PartsGate& gate, SnapshotPtr before) : gate_(gate) {
  {
    std::lock_guard lock(gate_.before_mutex_);
    gate_.before_ = std::move(before);
  }
  ++gate_.changes_;
}

PartsGate::Commit::~Commit() {
  ++gate_.changes_;
  SnapshotPtr done;  // given back outside of the lock
  std::lock_guard lock(gate_.before_mutex_);
  done.swap(gate_.before_);
}

}  // namespace commitd::storage

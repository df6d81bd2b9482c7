// The variables of semisync outside of a cluster: what SET has set, and what a commit waits for by them.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "sql/instance_control.h"

namespace commitd::replication {

using sql::OnSemisyncTimeout;
using sql::WaitPoint;

struct SemisyncPolicy {
  static constexpr std::chrono::milliseconds kForEver = sql::SemisyncTerms::kForEver;

  bool enabled = false;  // rpl_semi_sync_source_enabled
  uint32_t wait_count = 1;
  std::chrono::milliseconds timeout{10000};
  bool wait_no_replica = true;  // OFF: not even for the timeout, while too few are attached
  OnSemisyncTimeout on_timeout = OnSemisyncTimeout::Async;
  WaitPoint wait_point = WaitPoint::AfterSync;
  bool replica_enabled = true;  // rpl_semi_sync_replica_enabled

  bool gives_up() const { return on_timeout != OnSemisyncTimeout::Block && timeout != kForEver; }
};

class SemisyncSettings {
 public:
  SemisyncPolicy get() const {
    std::lock_guard lock(mutex_);
    return policy_;
  }
  template <class Change>
  void change(Change change) {
    std::lock_guard lock(mutex_);
    change(policy_);
  }

 private:
  mutable std::mutex mutex_;
  SemisyncPolicy policy_;
};

}  // namespace commitd::replication

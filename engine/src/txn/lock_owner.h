// The locks of one session's transaction. Used by one coroutine at a time; others touch the kill flag, and
// look at the rest while it waits.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "txn/lock_manager.h"

namespace commitd::txn {

struct LockRequest;

class LockOwner {
 public:
  LockOwner();
  ~LockOwner();  // release_all() must have been called
  LockOwner(const LockOwner&) = delete;

  size_t lock_count() const { return held_.size(); }
  bool holds(std::string_view key) const { return held_.contains(key); }
  // A kill that found nobody waiting ends the next wait; a new statement starts without it.
  const std::atomic<bool>& kill_flag() const { return killed_; }
  void clear_kill() { killed_.store(false, std::memory_order_relaxed); }

  // What performance_schema and the report of a deadlock say about it. The text must stay while it waits.
  void set_connection(uint32_t id) { connection_id_ = id; }
  void set_statement(std::string_view text) { statement_ = text; }
  void begin_transaction();
  void row_changed() { ++rows_changed_; }
  uint64_t transaction_id() const { return transaction_id_.load(std::memory_order_relaxed); }
  uint32_t connection_id() const { return connection_id_; }

  // How long it has waited for locks, of all its statements.
  std::chrono::microseconds waited() const { return waited_; }

  // What its session waits for, for the process list; from any thread.
  enum class Wait : uint8_t { None, Row, Table, Replicas, Commit };
  void set_wait(Wait wait) { wait_.store(wait, std::memory_order_relaxed); }
  Wait wait() const { return wait_.load(std::memory_order_relaxed); }

 private:
  friend class LockManager;
  // By key; the key's bytes belong to the lock's queue, which lives as long as the request is in it.
  absl::flat_hash_map<std::string_view, std::unique_ptr<LockRequest>> held_;
  std::atomic<bool> killed_{false};
  std::atomic<Wait> wait_{Wait::None};
  std::atomic<uint64_t> transaction_id_{0};
  uint32_t connection_id_ = 0;
  uint64_t rows_changed_ = 0;
  std::chrono::microseconds waited_{0};
  std::string_view statement_;
};

}  // namespace commitd::txn

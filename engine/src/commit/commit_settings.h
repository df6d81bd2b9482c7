// What of the commit path can be changed while it runs. The log thread looks at each value once per group.
#pragma once

#include <atomic>
#include <cstdint>

namespace commitd::binlog {

struct CommitSettings {
  // 1: every group is synced before it counts as durable; N: every Nth; 0: never, the system decides.
  std::atomic<uint64_t> sync_binlog{1};
  // binlog_group_commit_sync_delay: a group that would be synced waits so long for more transactions,
  std::atomic<uint64_t> sync_delay_microseconds{0};
  // binlog_group_commit_sync_no_delay_count: but no longer once it has so many (0: the time alone decides).
  std::atomic<uint64_t> sync_no_delay_count{0};
  // commitd_adaptive_group_commit: a group that will be synced waits for those who come again (GroupWait),
  // unless there is such a delay.
  std::atomic<bool> wait_for_others{true};
  // InnoDB's innodb_flush_log_at_trx_commit, for an engine with a log of its own (commitd_durability=xa).
  std::atomic<uint64_t> flush_log_at_trx_commit{1};
  // commitd_prepare_commit_mutex: a transaction is prepared, logged and in the engine before the next one's
  // turn comes.
  std::atomic<bool> one_at_a_time{false};
  // binlog_order_commits; false: with an engine that has prepared them, sessions take their transactions into
  // it themselves, each when its thread comes to it.
  std::atomic<bool> order_commits{true};
  // binlog_cache_size: larger events of a transaction go to a temporary file.
  std::atomic<uint64_t> transaction_cache_bytes{4 << 20};
  // binlog_error_action=IGNORE_ERROR: when the log fails, transactions go on without it.
  std::atomic<bool> ignore_log_errors{false};
  // commitd_early_lock_release: a transaction's row locks go when its place in the log's order is fixed.
  std::atomic<bool> early_lock_release{true};
  // commitd_wakeup=broadcast: whoever waits is woken by everybody's end, and looks whether it was his own.
  std::atomic<bool> wake_everybody{false};
  // commitd_dump_lock=log_lock: a group is written, and readers read each event, under one lock.
  std::atomic<bool> readers_take_log_lock{false};
  // commitd_relay_lock=log_lock: a group is written, and the applier reads each event, under that lock.
  std::atomic<bool> applier_takes_log_lock{false};
  // commitd_ack_wait=in_commit_stage: the next group is written when the one before is acknowledged.
  std::atomic<bool> acknowledged_in_turn{false};
  // replica_parallel_workers: threads that make writes from events before their turn; 0: none.
  std::atomic<uint64_t> parallel_workers{0};
};

}  // namespace commitd::binlog

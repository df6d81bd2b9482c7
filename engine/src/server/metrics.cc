#include "server/metrics.h"

#include <string>
#include <utility>

#include "observe/metrics.h"

namespace commitd::server {

void register_counters() {
  constexpr std::pair<const char*, const char*> kCounters[] = {
      {"commitd_connections_total", "Connections accepted."},
      {"commitd_connections_closed_locked_total",
       "Connections that engines were told to close under LOCK_thd_list."},
      {"commitd_aborted_connects_total", "Connections that ended before they had logged in."},
      {"commitd_transactions_committed_total", "Transactions committed with changes."},
      {"commitd_transactions_rolled_back_total", "Transactions with changes that were rolled back."},
      {"commitd_commit_groups_total", "Commit groups flushed."},
      {"commitd_commit_group_transactions_total", "Transactions in flushed commit groups."},
      {"commitd_binlog_fsyncs_total", "fdatasync calls on the binary log."},
      {"commitd_binlog_writes_total", "Write calls on the binary log."},
      {"commitd_checkpoints_total", "Times the storage engine was made durable on purpose."},
      {"commitd_binlog_bytes_written_total", "Bytes written to the binary log."},
      {"commitd_engine_fsyncs_total", "Syncs of the storage engine's own log (xa only)."},
      {"commitd_engine_written_bytes_total", "Bytes of the batches that commits gave to the storage engine."},
      {"commitd_commits_out_of_order_total",
       "Commits that came into the engine before one earlier in the log."},
      {"commitd_ack_wait_turns_total",
       "Commit groups whose acknowledgement the next group waited for before it was written."},
      {"commitd_wakeups_total", "Waiters for commits, log positions and executed GTIDs that were woken."},
      {"commitd_semisync_acks_total", "Acknowledgements received from replicas."},
      {"commitd_dump_bytes_sent_total", "Bytes of events sent to readers of the log."},
      {"commitd_dump_events_sent_total", "Events sent to readers of the log."},
      {"commitd_row_lock_waits_total", "Waits for row and table locks."},
      {"commitd_deadlocks_total", "Deadlocks found; each ended one transaction's wait."},
      {"commitd_row_lock_timeouts_total", "Lock waits that ran into their time limit."},
      {"commitd_purge_removed_total", "Old versions and tombstones that flushes and merges dropped."},
      {"commitd_scan_garbage_skipped_total",
       "Old versions and tombstones that scans stepped over, while the history is long."},
      {"commitd_rows_read_total", "Rows read by scans of sessions."},
      {"commitd_rows_inserted_total", "Rows inserted by sessions."},
      {"commitd_rows_updated_total", "Rows updated by sessions."},
      {"commitd_rows_deleted_total", "Rows deleted by sessions."},
      {"commitd_replica_received_transactions_total", "Transactions received from the source."},
      {"commitd_replica_applied_transactions_total", "Received transactions applied."},
      {"commitd_replica_ahead_transactions_total",
       "Transactions made from their events before their turn, by replica_parallel_workers, and taken like "
       "that."},
      {"commitd_replica_ahead_made_again_total",
       "Transactions that replica_parallel_workers made before their turn and that were made again in it."},
  };
  for (const auto& [name, help] : kCounters) observe::counter(name, help);
}

}  // namespace commitd::server

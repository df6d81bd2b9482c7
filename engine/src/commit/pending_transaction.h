// A transaction that has its place in the log and is not in the engine yet.
#pragma once

#include "base/log_position.h"
#include "gtid/gtid_set.h"
#include "runtime/timer.h"

namespace commitd::binlog {

struct LocalCommit;

struct PendingTransaction {
  LogPosition start, end;
  Gtid gtid;  // empty: of a session with sql_log_bin=0
  uint64_t epoch = 0;
  LocalCommit* local = nullptr;  // null: known by its events only
  Clock::time_point durable_at;
  bool received = false;     // from a source: its rows must be here as its events say
  bool skipped = false;      // counts as executed, and changes nothing
  bool shown_early = false;  // taken into the engine before it was acknowledged

  uint64_t size() const { return end.offset - start.offset; }
};

}  // namespace commitd::binlog

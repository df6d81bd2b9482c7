// What was received, is durable in the own log and is not applied yet, with what its source says of it. Noted
// on the log thread, read from anywhere. Of many, only the first are remembered: the own log has the others,
// and ApplyGate reads them there when those are applied.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "base/log_position.h"
#include "base/mutex.h"
#include "gtid/gtid_set.h"
#include "replication/source_stand.h"

namespace commitd::replication {

struct ReceivedEntry {
  LogPosition end;  // behind it, in the own log
  Gtid gtid;
  uint64_t committed_at = 0, first_committed_at = 0;  // at its source, and where it began: microseconds
  uint64_t queued_at = 0, durable_at = 0;             // here
  std::string source_file;                            // empty: not known
  uint64_t source_begin = 0, source_position = 0;     // in front of it, and behind it
};

class ReceivedQueue {
 public:
  static constexpr size_t kMost = 16384;  // some 4 MiB
  explicit ReceivedQueue(size_t most = kMost) : most_(most) {}

  void note(ReceivedEntry entry);
  // Everything in front of `applied_end` is applied: only the last of that is kept.
  void trim(LogPosition applied_end);
  // The log ends there now.
  void cut(LogPosition end);
  void clear();  // it starts anew

  // There is room again for what was left out, which stands behind this.
  std::optional<LogPosition> left_out_behind() const;
  // The next one of those, as the log has it; false: there is no room, or it is none of them.
  bool note_left_out(ReceivedEntry entry);

  std::optional<ReceivedEntry> last_applied() const;
  std::optional<ReceivedEntry> next() const;  // to be applied
  std::optional<ReceivedEntry> newest() const;
  // Where the source's log is read on: by the newest entry that says so, behind where it was begun.
  SourceStand stand() const;
  void begin_at(SourceStand stand, LogPosition applied_end);
  // Behind the last of those, from `begin` on, all of which are let through, asked in their order; `begin` if
  // none.
  LogPosition end_of_those(LogPosition begin,
                           const std::function<bool(const ReceivedEntry&)>& let_through) const;
  std::optional<LogPosition> find(const Gtid& gtid) const;
  // Where those end that are remembered, when others are left out.
  std::optional<LogPosition> remembered_end() const;

 private:
  LogPosition remembered_end_locked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool leaves_out() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return newest_.has_value(); }

  const size_t most_;
  mutable Mutex mutex_;
  std::deque<ReceivedEntry> waiting_ ABSL_GUARDED_BY(mutex_);  // in log order
  std::optional<ReceivedEntry> applied_ ABSL_GUARDED_BY(mutex_);
  // Of those that are left out; there are some between it and the last that is remembered, or none.
  std::optional<ReceivedEntry> newest_ ABSL_GUARDED_BY(mutex_);
  SourceStand stand_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::replication

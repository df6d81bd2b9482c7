// What was received, is durable in the own log and is not applied yet, with what its source says of it. Noted
// on the log thread, read from anywhere.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/log_position.h"
#include "base/mutex.h"
#include "gtid/gtid_set.h"

namespace commitd::replication {

struct ReceivedEntry {
  LogPosition end;  // behind it, in the own log
  Gtid gtid;
  uint64_t committed_at = 0, first_committed_at = 0;  // at its source, and where it began: microseconds
  uint64_t queued_at = 0, durable_at = 0;             // here
  std::string source_file;                            // empty: not known
  uint64_t source_position = 0;                       // behind it
};

class ReceivedQueue {
 public:
  void note(ReceivedEntry entry);
  // Everything in front of `applied_end` is applied: only the last of that is kept.
  void trim(LogPosition applied_end);
  // The log ends there now.
  void cut(LogPosition end);
  void clear();  // it starts anew

  std::optional<ReceivedEntry> last_applied() const;
  std::optional<ReceivedEntry> next() const;  // to be applied
  std::optional<ReceivedEntry> newest() const;
  // Behind the last of those, from `begin` on, all of which are let through, asked in their order; `begin` if
  // none.
  LogPosition end_of_those(LogPosition begin,
                           const std::function<bool(const ReceivedEntry&)>& let_through) const;
  std::vector<ReceivedEntry> beyond(LogPosition end) const;
  std::optional<LogPosition> find(const Gtid& gtid) const;

 private:
  mutable Mutex mutex_;
  std::deque<ReceivedEntry> waiting_ ABSL_GUARDED_BY(mutex_);  // in log order
  std::optional<ReceivedEntry> applied_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::replication

// The events of a transaction that has been spilled, read back for the log.
#pragma once

#include <string>
#include <string_view>

#include "binlog/event_spool.h"

namespace commitd::binlog {

class SpilledEvents {
 public:
  // From the event at `first` on, which will stand at offset `position` of the log file.
  SpilledEvents(const EventSpool& spool, size_t first, uint64_t position)
      : spool_(spool), shift_(position - first), next_(first) {}

  bool done() const { return next_ == spool_.size(); }
  // The next whole events, about 1 MiB, sealed. Valid until the next call.
  Result<std::string_view> next();

 private:
  Status fill(size_t length);  // buffer_ with what stands at next_

  const EventSpool& spool_;
  const uint64_t shift_;  // from places in the spool to those in the file; modulo 2^64
  size_t next_;
  std::string buffer_;
};

}  // namespace commitd::binlog

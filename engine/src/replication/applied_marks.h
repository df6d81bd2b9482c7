// How far a replica is, in its source's own terms. The source puts numbered marks into its stream; the
// replica says which is the last in front of which everything is applied. So it needs no places in that
// source's log, which it does not know of all that it has: not behind a restart, and not of what another
// source has sent.
//
// No time and no waiting in here.
#pragma once

#include <cstdint>

#include "base/log_position.h"
#include "replication/thinned.h"

namespace commitd::replication {

class AppliedMarks {
 public:
  // A mark came, when so many transactions of this stream had been handed to the own log. Number 0: the
  // source wants to hear no more.
  void came(uint64_t number, uint64_t handed);
  bool is_wanted() const { return wanted_; }

  // So many of the stream's transactions are durable, and the own log ends there (or did, since).
  void durable(uint64_t transactions, LogPosition end);
  // What is applied ends there; `all`: and there was nothing else in the log, behind what durable() was told.
  // Gives the latest mark with everything in front of it applied; 0: none yet.
  uint64_t applied(LogPosition end, bool all);

 private:
  struct Mark {
    uint64_t number, handed;
    bool is_durable = false;
    LogPosition end = {};  // of the own log, when what is in front of it was durable
  };
  bool wanted_ = false;
  Thinned<Mark> marks_;
  uint64_t applied_ = 0;
};

}  // namespace commitd::replication

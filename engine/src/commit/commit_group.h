// One commit group on its way through the log thread.
#pragma once

#include <algorithm>

#include "commit/pipeline_impl.h"

namespace commitd::binlog {

// Chosen once for each group; only the log's own failure turns the first two into the last on the way.
enum class Destination : uint8_t {
  Logged,    // the binlog; the engine when it is acknowledged
  Prepared,  // xa: the engine's own log before that
  Unlogged,  // the binlog was left: the engine alone
};

struct CommitPipeline::Impl::Group {
  CommitQueue::Batch batch;
  Destination destination = Destination::Logged;
  std::shared_ptr<const std::string> bytes;
  const EventSpool* spilled = nullptr;  // the last of it stand behind `bytes`
  std::vector<PendingTransaction> transactions;
  std::vector<std::function<void(LogPosition)>> duplicates;  // already logged: only to be reported
  std::vector<std::pair<size_t, std::function<void(LogPosition)>>>
      received;  // index in transactions, callback
  std::optional<Error> invalid;
  std::vector<std::pair<uint64_t, int64_t>> sequences;  // order, sequence number; ascending

  // What number() has decided.
  LogPosition acknowledged;  // when it was put together
  std::vector<bool> known;   // of the received ones: whether they are logged already
  uint64_t next_gno = 0;

  // The last of the group's transactions up to the one of that order; 0 when there is none.
  int64_t sequence_of(uint64_t up_to) const {
    const auto behind = std::upper_bound(sequences.begin(), sequences.end(), std::pair(up_to, INT64_MAX));
    return behind == sequences.begin() ? 0 : std::prev(behind)->second;
  }
};

}  // namespace commitd::binlog

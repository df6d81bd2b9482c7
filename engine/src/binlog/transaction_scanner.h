// Finds where transactions begin and end in a stream of events.
#pragma once

#include <cstdint>
#include <optional>

#include "binlog/events.h"

namespace commitd::binlog {

class TransactionScanner {
 public:
  // What is known of a transaction when its last event has been seen.
  struct Transaction {
    Gtid gtid;                    // empty: of a session with sql_log_bin=0
    uint64_t start = 0, end = 0;  // offsets in the caller's numbering
    uint64_t epoch = 0;           // not 0: an epoch transaction
    int64_t sequence_number = 0;
  };

  // The next event, which stands at `offset`. Returns the transaction that it ends, if any. An error when it
  // cannot follow what came before.
  Result<std::optional<Transaction>> feed(const EventView& event, uint64_t offset);
  bool inside() const { return inside_; }
  void reset() { *this = {}; }

 private:
  Result<std::optional<Transaction>> feed_outside(const EventView& event, uint64_t offset);

  bool inside_ = false;
  bool has_begin_ =
      false;  // BEGIN seen: ends with XID or COMMIT; otherwise the one statement is the transaction
  Transaction current_;
};

// The epoch in an event, when it is an Epoch event.
std::optional<uint64_t> epoch_of(const EventView& event);
// The events inside a LocalOnly event; of any other transaction, `events` as they are.
std::string_view unwrap_local(std::string_view events);

}  // namespace commitd::binlog

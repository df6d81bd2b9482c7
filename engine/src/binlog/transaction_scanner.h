// Where transactions begin and end in events, for the log as for what replication sends and receives.
#pragma once

#include <cstdint>
#include <optional>

#include "binlog/events.h"

namespace commitd::binlog {

class TransactionScanner {
 public:
  enum class Of : uint8_t {
    Log,     // our own: whole transactions, and nothing that cannot be followed
    Stream,  // between a source and a replica: it may be joined anywhere, and end inside a transaction
  };
  explicit TransactionScanner(Of of = Of::Log) : of_(of) {}

  enum class Place : uint8_t {
    Outside,  // between transactions: file heads, rotations, our group marks
    First,    // the GTID event
    Inside,
    Last,       // the transaction is complete with this event
    Unshipped,  // a whole one, of a session with sql_log_bin=0
  };
  // The next event, which stands at `offset`. An error when it cannot follow what came before, or starts what
  // cannot be followed: a transaction without a GTID, an XA transaction, a compressed one.
  Result<Place> feed(const EventView& event, uint64_t offset, bool checksummed = true);
  static bool completes(Place place) { return place == Place::Last || place == Place::Unshipped; }

  // The one that the last event belongs to; all of it is known when that completes it.
  struct Transaction {
    Gtid gtid;                    // empty: of a session with sql_log_bin=0
    uint64_t start = 0, end = 0;  // offsets in the caller's numbering
    uint64_t epoch = 0;           // not 0: an epoch transaction
    int64_t sequence_number = 0;
  };
  const Transaction& transaction() const { return current_; }
  bool inside() const { return inside_; }

 private:
  Result<Place> feed_inside(const EventView& event, uint64_t offset, bool checksummed);
  Result<Place> feed_outside(const EventView& event, uint64_t offset, bool checksummed);
  Result<bool> query_ends(const EventView& event, bool checksummed);

  Of of_;
  bool inside_ = false;
  // BEGIN was seen: ends with XID or COMMIT; otherwise the one statement is the transaction.
  bool has_begin_ = false;
  Transaction current_;
};

// The epoch in an event, when it is an Epoch event.
std::optional<uint64_t> epoch_of(const EventView& event, bool checksummed = true);
// The events inside a LocalOnly event; of any other transaction, `events` as they are.
std::string_view unwrap_local(std::string_view events);

}  // namespace commitd::binlog

// Follows a stream of binlog events and tells where transactions begin and end.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "binlog/events.h"

namespace commitd::replication {

class TransactionBoundary {
 public:
  enum class Place : uint8_t {
    Outside,  // between transactions: file heads, rotations, our group marks
    First,    // the GTID event
    Inside,
    Last,  // the transaction is complete with this event
  };

  // An error for streams that cannot be followed: transactions without a GTID, statements of an XA
  // transaction, compressed ones.
  Result<Place> feed(const binlog::EventView& event, bool checksummed);
  // Of the transaction that the last event belongs to.
  const Gtid& gtid() const { return gtid_; }
  bool in_transaction() const { return state_ != State::Between; }

 private:
  enum class State : uint8_t { Between, AfterGtid, InGroup };
  Result<Place> feed_query(const binlog::EventView& event, bool checksummed);

  State state_ = State::Between;
  Gtid gtid_;
};

}  // namespace commitd::replication

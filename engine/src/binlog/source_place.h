// Where a received transaction stands in its source's log. In the own log an event of ours says it, in front
// of the transaction's GTID event and in the same write: so what is durable of a source and where that ends
// there are never told apart by a crash. It is outside of the transaction, and never shipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "binlog/event_writer.h"

namespace commitd::binlog {

// Beside those in events.h. Releases that do not know it pass over it.
inline constexpr auto kSourcePlaceKind = static_cast<OwnKind>(5);

struct SourcePlace {
  // Places of one source's log, one behind the other, have the same number.
  uint64_t series = 0;
  std::string file;
  uint64_t begin = 0, end = 0;  // of the transaction
};

// `origin`: the transaction's. The end may be filled in when it is known: kSourcePlaceEndAt bytes behind the
// event's begin.
void append_source_place(std::string& out, EventOrigin origin, const SourcePlace& place);
inline constexpr size_t kSourcePlaceEndAt = kHeaderLength + 4 + 1 + 8 + 8;

// nullopt when it is another event.
std::optional<SourcePlace> parse_source_place(const EventView& event);
// Length of the event of that kind that `events` begin with; 0: they begin with another.
size_t source_place_length(std::string_view events);

// Reads them out of a log's events: a place is that of the transaction right behind it, and of no other.
class SourcePlaceReader {
 public:
  void feed(const EventView& event);
  // Of the transaction that the last event begins or belongs to.
  const std::optional<SourcePlace>& place() const { return place_; }

 private:
  std::optional<SourcePlace> place_;
  bool waits_for_gtid_ = false;
};

}  // namespace commitd::binlog

// Leaves out of the transactions that come from a source what this server does not take, before they are
// logged: so the own log is what is applied, and a restart applies the same. Their GTIDs stay: a transaction
// of which nothing is left is logged as an empty one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "binlog/event_spool.h"
#include "binlog/events.h"
#include "replication/filter_rules.h"

namespace commitd::replication {

class EventFilter {
 public:
  explicit EventFilter(std::shared_ptr<const FilterRules> rules) : rules_(std::move(rules)) {}

  void begin();  // a transaction
  // Adds of `event`, the next one behind the GTID event, what this server takes, with a checksum.
  Status take(const binlog::EventView& event, bool checksummed, binlog::EventSpool& into);
  // Something of the transaction was left out.
  bool changed() const { return changed_; }

 private:
  Status take_rewritten(const binlog::EventView& event, bool checksummed, binlog::EventSpool& into);
  Status keep(const binlog::EventView& event, bool checksummed, binlog::EventSpool& into);
  Status take_statement(const binlog::EventView& event, bool checksummed, binlog::EventSpool& into);
  Status take_rows(const binlog::EventView& event, bool checksummed, binlog::EventSpool& into);
  Status end_statement(binlog::EventSpool& into);

  const std::shared_ptr<const FilterRules> rules_;
  std::set<uint64_t> left_out_;      // table ids
  std::string text_of_rows_;         // waits for rows that are kept
  std::optional<size_t> last_rows_;  // kept, of a statement that has not ended
  bool has_begin_ = false, changed_ = false;
};

}  // namespace commitd::replication

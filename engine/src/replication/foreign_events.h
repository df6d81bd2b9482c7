// What comes from a source whose transactions have no GTIDs of MySQL's kind, as a MySQL 8 with GTIDs would
// send it: ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS. MariaDB's events are translated as far as they differ.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binlog/events.h"

namespace commitd::replication {

class ForeignEvents {
 public:
  enum class Of : uint8_t { MySql, MariaDb };
  // `next_gtid`: of the transaction that begins.
  ForeignEvents(Of of, std::function<Gtid()> next_gtid) : of_(of), next_gtid_(std::move(next_gtid)) {}

  // The events in place of this one; nullopt: it is taken as it is. `inside`: a transaction has begun.
  Result<std::optional<std::vector<std::string>>> translate(const binlog::EventView& event, bool checksummed,
                                                            bool inside) const;

 private:
  using Events = std::vector<std::string>;
  Result<std::optional<Events>> translate_mariadb(const binlog::EventView& event, bool checksummed,
                                                  bool inside) const;
  std::string named(const binlog::EventView& anonymous, bool checksummed) const;
  std::string gtid_event_of(const binlog::EventHeader& first, bool checksummed) const;

  const Of of_;
  const std::function<Gtid()> next_gtid_;
};

}  // namespace commitd::replication

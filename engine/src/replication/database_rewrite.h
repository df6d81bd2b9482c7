// REPLICATE_REWRITE_DB: an event of another database. Of what is logged as text it is the one in use; names
// in the text stay, as in MySQL.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "binlog/events.h"
#include "replication/filter_rules.h"

namespace commitd::replication {

// With a checksum; nullopt: it stays as it is.
Result<std::optional<std::string>> with_rewritten_database(const binlog::EventView& event, bool checksummed,
                                                           const FilterRules& rules);

}  // namespace commitd::replication

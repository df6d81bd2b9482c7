// A GTID event tells how long its transaction is: told anew when that has changed on its way here.
#pragma once

#include "binlog/event_spool.h"

namespace commitd::replication {

// The GTID event stands at `at`, and the transaction goes on to the end. One that does not tell stays so.
Status tell_transaction_length(binlog::EventSpool& events, size_t at);
// The event that begins there.
Result<std::string> read_event(const binlog::EventSpool& events, size_t at);
std::string checksummed_anew(std::string_view event);

}  // namespace commitd::replication

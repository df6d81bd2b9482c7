// Decoding of what replicas and other readers of the log ask for. Arguments stand behind the command byte.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wire/replication_commands.h"

namespace commitd::wire {

Result<RegisterReplica> decode_register_replica(std::string_view arguments);
Result<DumpRequest> decode_dump(std::string_view arguments);
Result<DumpRequest> decode_dump_gtid(std::string_view arguments);

}  // namespace commitd::wire

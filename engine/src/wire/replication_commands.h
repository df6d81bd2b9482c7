// What the protocol hands to replication: dump requests of readers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gtid/gtid_set.h"
#include "runtime/task.h"
#include "sql/session.h"
#include "wire/channel.h"

namespace commitd::wire {

struct RegisterReplica {  // COM_REGISTER_SLAVE
  uint32_t server_id = 0;
  std::string host, user;
  uint16_t port = 0;
};

struct DumpRequest {  // COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID
  bool by_gtid = false;
  uint16_t flags = 0;  // 1 = non-blocking (end of file packet at the end), 2 = heartbeat v2 …
  uint32_t server_id = 0;
  std::string file;  // may be empty: the first file
  uint64_t position = 4;
  GtidSet have;                            // by_gtid
  std::optional<RegisterReplica> replica;  // what it has said of itself before
};

class DumpHandler {
 public:
  virtual ~DumpHandler() = default;
  // Streams until the peer goes away, the session is killed or (non-blocking) the log ends. An error is sent
  // to the peer by the caller.
  virtual Task<Status> dump(sql::Session& session, Channel& channel, DumpRequest request) = 0;
};

// COM_CLONE: another server asks for this one's data.
class CloneHandler {
 public:
  virtual ~CloneHandler() = default;
  // `request` is what stands behind the command byte. Looks whether this session may have that. An error is
  // sent to the peer by the caller.
  virtual Task<Status> give(sql::Session& session, Channel& channel, std::string_view request) = 0;
};

}  // namespace commitd::wire

// What a server must hold after any crash: some prefix of the log, and exactly the state that the log's
// transactions make of the state at the start, one by one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/log_position.h"
#include "base/testing/recording_file_system.h"
#include "gtid/gtid_set.h"
#include "server/testing/bare_server.h"

namespace commitd::server::testing {

// Of all keys and values but the commit point and what is prepared.
uint64_t digest_of(storage::Engine& engine);

// What is wrong with an engine's tables by themselves: index entries without rows, rows without index
// entries, keys that belong to no table. Empty: nothing.
std::string disorder_in(storage::Engine& engine, sql::Catalog& catalog);

class CrashOracle {
 public:
  struct Prefix {
    LogPosition end;
    GtidSet executed;
    uint64_t digest = 0;
    size_t ledger_rows = 0;
  };

  // From the record of a workload that has ended: an engine of its own takes the whole log, purged files too,
  // one transaction after the other.
  CrashOracle(const commitd::testing::RecordingFileSystem& files, bool xa);

  // The last prefix that ends at `position` or in front of it.
  size_t prefix_at(LogPosition position) const;

  std::vector<Prefix> prefixes;       // the first one: before the workload
  std::map<int64_t, size_t> ledger;   // row of test.ledger → the first prefix that has it
  std::vector<std::string> problems;  // of the log or of a state

 private:
  void take_log(BareServer& server, binlog::Log& log, LogPosition end);
  void take_transaction(BareServer& server, std::string_view events, LogPosition end, const Gtid& gtid);
  void look_at(BareServer& server);

  storage::CommitPoint point_;
};

}  // namespace commitd::server::testing

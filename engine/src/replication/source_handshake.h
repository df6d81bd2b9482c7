// What a replica says to its source and asks it before it requests the stream, in the order MySQL's replicas
// have.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "gtid/gtid_set.h"
#include "replication/receiver.h"
#include "replication/source_stand.h"
#include "wire/client.h"

namespace commitd::replication {

// What the source turned out to be.
struct SourceTraits {
  Uuid uuid;
  uint32_t server_id = 0;
  int64_t clock_difference = 0;  // seconds that our clock is ahead
  bool commitd = false;
  bool mariadb = false;
  bool semisync = false;
  bool checksummed = true;
  // Of a commitd that is the master of the wanted epoch.
  GtidSet logged;
  uint64_t log_epoch_before = 0;  // the last epoch in its log when its mastership began
  uint64_t gno_before = 0;        // the last number that it had given then
};

// A source that has said nothing for so long is taken for lost: for three of the periods in which it is asked
// to say something, at least.
inline constexpr auto kSilenceLimit = std::chrono::milliseconds(10000);
inline std::chrono::milliseconds silence_limit_of(const sql::SourceOptions& options) {
  return std::max(kSilenceLimit, std::chrono::milliseconds(3 * uint64_t{options.heartbeat_milliseconds}));
}

// What a server that has nothing of the source's present epoch may have in common with it. A number that the
// source has given since is not the one of that name here: it has lost the first.
GtidSet log_before_epoch(const SourceTraits& source);

Task<Result<SourceTraits>> greet_source(wire::Client& client, const Receiver::Environment& environment,
                                        const Receiver::Target& target);

std::string register_replica_payload(uint32_t server_id, uint16_t port);
std::string dump_gtid_payload(uint32_t server_id, const GtidSet& have);
std::string dump_payload(uint32_t server_id, const SourceStand& from, bool mariadb);

inline constexpr uint8_t kComRegisterReplica = 0x15;
inline constexpr uint8_t kComBinlogDump = 0x12;
inline constexpr uint8_t kComBinlogDumpGtid = 0x1e;

}  // namespace commitd::replication

// What a replica says to its source and asks it before it requests the stream, in the order MySQL's replicas
// have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gtid/gtid_set.h"
#include "replication/receiver.h"
#include "wire/client.h"

namespace commitd::replication {

// What the source turned out to be.
struct SourceTraits {
  Uuid uuid;
  bool commitd = false;
  bool semisync = false;
  bool checksummed = true;
  GtidSet logged;  // of a commitd that is the master of the wanted epoch
};

inline constexpr auto kHeartbeatPeriod = std::chrono::seconds(1);
// A source that has said nothing for so long is taken for lost.
inline constexpr auto kSilenceLimit = std::chrono::seconds(10);

Task<Result<SourceTraits>> greet_source(wire::Client& client, const Receiver::Environment& environment,
                                        const Receiver::Target& target);

std::string register_replica_payload(uint32_t server_id, uint16_t port);
std::string dump_gtid_payload(uint32_t server_id, const GtidSet& have);

inline constexpr uint8_t kComRegisterReplica = 0x15;
inline constexpr uint8_t kComBinlogDumpGtid = 0x1e;

}  // namespace commitd::replication

// The few bytes that MySQL's semisync adds to a dump stream, in both directions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace commitd::replication {

inline constexpr char kSemisyncMagic = '\xef';

// What stands in front of an event in its packet: an OK byte and, for readers that acknowledge, magic and
// whether an answer is wanted.
std::string_view packet_head(bool semisync, bool wants_acknowledgement);

// The answer: the place in the *source's* log behind the last event that is durable at the reader.
struct Acknowledgement {
  std::string file;
  uint64_t position = 0;
};
// Among commitd's: the answer to a heartbeat's question has its number for the position, and this for a name,
// which no log file has.
inline constexpr std::string_view kAnswer = "commitd answers";
// Likewise, where a heartbeat has left a mark: for a position the number of the latest mark with everything
// in front of it applied, and for a name whether the applier is meant to go on by itself. Also from readers
// that do not acknowledge.
inline constexpr std::string_view kKeepsUp = "commitd keeps up", kHasStopped = "commitd has stopped";
std::string encode_acknowledgement(const Acknowledgement& acknowledgement);
Result<Acknowledgement> parse_acknowledgement(std::string_view packet);

}  // namespace commitd::replication

// Events that exist only in a dump stream, and what is changed in the ones that come from the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "binlog/events.h"
#include "gtid/gtid_set.h"

namespace commitd::replication {

// The rotate event that opens every file in a stream: no place in the log, the position where the stream goes
// on.
std::string fake_rotate(uint32_t server_id, std::string_view file, uint64_t position, bool checksummed);

// A file's format description as a reader gets it. `artificial`: it stands in front of a stream that starts
// further back, so it has no place and no creation time. A reader that wants no checksums is told so; this
// event keeps its own (MySQL's format says so).
std::string shipped_format_description(std::string_view event, bool artificial, bool checksummed);

// How much of the stream is acknowledged, for readers that are commitd: everything up to `gtid`, or when that
// is empty everything the reader held when it asked for the stream.
struct Watermark {
  Gtid gtid;
  bool operator==(const Watermark&) const = default;
};

struct Heartbeat {
  std::string file;
  uint64_t position = 0;
  std::optional<Watermark> watermark;  // only in the second form
  std::optional<uint64_t> question;    // likewise: a member answers with its number (semisync_protocol.h)
  std::optional<uint64_t> mark = {};   // likewise: a replica says how far it is by it; 0: no more
};
std::string heartbeat_event(uint32_t server_id, const Heartbeat& heartbeat, bool second_form,
                            bool checksummed);
Result<Heartbeat> parse_heartbeat(const binlog::EventView& event, bool checksummed);

// The event with a checksum, for sources that send none.
std::string with_checksum(std::string_view event);
// Appends the event without its checksum, for readers that want none; returns its length then.
size_t append_without_checksum(std::string& out, std::string_view event);

}  // namespace commitd::replication

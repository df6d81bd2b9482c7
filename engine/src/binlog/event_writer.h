// Writing events. Every event is begun, filled and ended in one string; sealing gives it its place in a file
// and its checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "binlog/events.h"
#include "binlog/transaction_buffer.h"

namespace commitd::binlog {

inline constexpr std::string_view kFileMagic =
    "\xfe"
    "bin";
inline constexpr std::string_view kOwnMagic = "cmtd";
inline constexpr uint8_t kLogicalClockCode = 2;
inline constexpr uint16_t kRowsStatementEnd = 1;
inline constexpr uint32_t kServerVersionNumber = 80400;

// Codes of a query event's status variables.
enum class QueryVariable : uint8_t {
  Flags2 = 0,
  SqlMode = 1,
  Catalog = 2,
  AutoIncrement = 3,
  Charset = 4,
  TimeZone = 5,
  CatalogNz = 6,
  LcTimeNames = 7,
  CharsetDatabase = 8,
  TableMapForUpdate = 9,
  SourceDataWritten = 10,
  Invoker = 11,
  UpdatedDatabases = 12,
  Microseconds = 13,
  ExplicitDefaultsForTimestamp = 16,
  DdlLoggedWithXid = 17,
  DefaultCollationForUtf8mb4 = 18,
  RequirePrimaryKey = 19,
  DefaultTableEncryption = 20,
};

struct EventOrigin {
  uint32_t server_id = 1;
  uint32_t timestamp = 0;
};

// CRC of an event without its checksum field. MySQL clears the in-use flag of a format description
// afterwards, so it never counts.
uint32_t event_checksum(std::string_view event_without_checksum);

// Header with the length left open; end_event() fills it in and leaves room for the checksum.
size_t begin_event(std::string& out, EventType type, EventOrigin origin, uint16_t flags = 0);
void end_event(std::string& out, size_t start);
// Gives a complete event its end position and checksum. Returns its length.
uint32_t seal_event(char* event, uint64_t start_position);
// Seals whole events back to back, the first of which stands at `start_position`.
Status seal_events(char* events, size_t length, uint64_t start_position);

void append_format_description(std::string& out, EventOrigin origin, std::string_view server_version);
void append_previous_gtids(std::string& out, EventOrigin origin, const GtidSet& gtids);
void append_rotate(std::string& out, EventOrigin origin, std::string_view next_file);
void append_stop(std::string& out, EventOrigin origin);
void append_gtid(std::string& out, EventOrigin origin, const GtidEvent& gtid, bool row_events_only);
void append_query(std::string& out, EventOrigin origin, const TransactionBuffer::Context& context,
                  std::string_view db, std::string_view sql);
void append_xid(std::string& out, EventOrigin origin, uint64_t xid);
void append_own(std::string& out, EventOrigin origin, OwnKind kind, std::string_view payload);
void append_group_open(std::string& out, EventOrigin origin, const GroupOpen& open);

// Length of a GTID event with transaction_length filled in so that it counts the event itself.
uint64_t whole_transaction_length(uint64_t length_behind_gtid, const GtidEvent& gtid);

// last_committed and sequence_number of the GTID event at `event`.
void patch_logical_clock(char* event, int64_t last_committed, int64_t sequence_number);

}  // namespace commitd::binlog

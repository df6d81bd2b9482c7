// Event numbers and the fixed parts of MySQL's v4 binlog format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_position.h"
#include "base/result.h"
#include "gtid/gtid_set.h"

namespace commitd::binlog {

enum class EventType : uint8_t {
  Query = 2,
  Stop = 3,
  Rotate = 4,
  FormatDescription = 15,
  Xid = 16,
  TableMap = 19,
  Heartbeat = 27,
  Ignorable = 28,
  RowsQuery = 29,
  WriteRows = 30,
  UpdateRows = 31,
  DeleteRows = 32,
  Gtid = 33,
  AnonymousGtid = 34,
  PreviousGtids = 35,
  XaPrepare = 38,
  TransactionPayload = 40,
  HeartbeatV2 = 41,
  GtidTagged = 42,
};

inline constexpr size_t kHeaderLength = 19;
inline constexpr size_t kChecksumLength = 4;
inline constexpr uint16_t kFlagInUse = 0x1;
inline constexpr uint16_t kFlagArtificial = 0x20;
inline constexpr uint16_t kFlagIgnorable = 0x80;

struct EventHeader {
  uint32_t timestamp = 0;
  EventType type{};
  uint32_t server_id = 0;
  uint32_t length = 0;
  uint32_t end_position = 0;  // end_log_pos (32 bits: files stay below 4 GiB)
  uint16_t flags = 0;
};

// A view of one complete event (header, body, checksum) somewhere in memory.
struct EventView {
  EventHeader header;
  std::string_view bytes;  // whole event
  std::string_view body(bool checksummed) const;
};

// The event at the start of `bytes`; an error when it is cut off or its length is impossible. Does not check
// the CRC.
Result<EventView> parse_event(std::string_view bytes);
bool checksum_matches(const EventView& event);
// Length of the event whose header `bytes` starts with; 0 when the header is cut off.
size_t event_length(std::string_view bytes);
// Length of the longest run of whole events at the front of `bytes` within `max_bytes`; of one event at
// least, when that is complete.
size_t whole_events(std::string_view bytes, size_t max_bytes);

// Our own events travel as ignorable ones (type 28, flag 0x80): body = "cmtd", kind, payload. Other readers
// skip them.
enum class OwnKind : uint8_t {
  GroupOpen = 1,  // struct GroupOpen; never shipped
  RowIds = 2,  // table id u64 (of the TABLE_MAP), count u32, row ids u64 each: in front of an UPDATE/DELETE
               // rows event of a table without primary key
  Epoch = 3,   // epoch u64: inside an epoch transaction
  LocalOnly = 4,  // wraps a transaction of a session with sql_log_bin=0: replayed, never shipped
};

struct GtidEvent {
  Gtid gtid;
  int64_t last_committed = 0;
  int64_t sequence_number = 0;
  uint64_t transaction_length = 0;
  uint64_t immediate_commit_timestamp = 0;  // microseconds
  uint64_t original_commit_timestamp = 0;
};
Result<GtidEvent> parse_gtid_event(const EventView& event, bool checksummed);

struct QueryEvent {
  uint32_t thread_id = 0;
  uint16_t error_code = 0;
  std::string db;
  std::string sql;
  // From the status variables: what the statement's meaning depends on.
  uint64_t sql_mode = 0;
  uint16_t client_collation = 45, connection_collation = 45, server_collation = 45;
  std::string time_zone;
  bool has_microseconds = false;
  bool by_commitd = false;  // has the status variables that append_query writes; MySQL has others for DDL
};
Result<QueryEvent> parse_query_event(const EventView& event, bool checksummed);

struct TableMapEvent {
  uint64_t table_id = 0;
  std::string db, table;
  std::vector<uint8_t> types;
  std::string metadata;  // of the types that have some, one behind the other
};
Result<TableMapEvent> parse_table_map_event(const EventView& event, bool checksummed);

struct RowsEvent {
  EventType type{};
  uint64_t table_id = 0;
  bool statement_end = false;
  uint64_t columns = 0;
  std::string_view before_bitmap, after_bitmap;  // columns present (after: UPDATE only)
  std::string_view rows;  // row images one behind the other (UPDATE: before, after, before, after …)
};
Result<RowsEvent> parse_rows_event(const EventView& event, bool checksummed);

struct OwnEvent {
  OwnKind kind{};
  std::string_view payload;
};
// nullopt when the event is ignorable but not ours.
std::optional<OwnEvent> parse_own_event(const EventView& event, bool checksummed);

// The event every group of transactions starts with. Recovery tells a torn tail from corruption by it.
struct GroupOpen {
  uint64_t number = 0;              // u64, ascending
  LogPosition acknowledged;         // u32 + u64: known to be acknowledged when the group was written
  bool earlier_is_durable = false;  // u8: everything before this event was synced before it was written
};
// nullopt when it is another event.
std::optional<GroupOpen> parse_group_open(const EventView& event, bool checksummed);

}  // namespace commitd::binlog

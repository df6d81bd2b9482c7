#include "binlog/events.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "binlog/event_writer.h"

namespace commitd::binlog {
namespace {

Error damaged(const EventView& event, const char* what) {
  return make_error(er::kErrorOnRead, "Damaged {} event in the binary log (type {}, {} bytes)", what,
                    static_cast<int>(event.header.type), event.header.length);
}

// Query events carry what the statement's meaning depends on as a list of (code, value); the width of a value
// follows from its code. A code we do not know ends the list: its width is unknown.
void parse_status_variables(std::string_view variables, QueryEvent& query) {
  constexpr std::array kOurs = {QueryVariable::Flags2, QueryVariable::SqlMode, QueryVariable::CatalogNz,
                                QueryVariable::Charset, QueryVariable::TimeZone};
  ByteReader reader(variables);
  size_t seen = 0, ours = 0;
  while (reader.ok() && !reader.rest().empty()) {
    const auto code = static_cast<QueryVariable>(reader.u8());
    if (seen < kOurs.size() && code == kOurs[seen]) ++ours;
    ++seen;
    query.by_commitd = seen == kOurs.size() && ours == seen;
    switch (code) {
      case QueryVariable::Flags2:
        reader.skip(4);
        break;
      case QueryVariable::SqlMode:
        query.sql_mode = reader.le64();
        break;
      case QueryVariable::Catalog:
        reader.bytes(reader.u8() + 1);
        break;
      case QueryVariable::AutoIncrement:
        reader.skip(4);
        break;
      case QueryVariable::Charset:
        query.client_collation = reader.le16();
        query.connection_collation = reader.le16();
        query.server_collation = reader.le16();
        break;
      case QueryVariable::TimeZone:
        query.time_zone = std::string(reader.bytes(reader.u8()));
        break;
      case QueryVariable::CatalogNz:
        reader.bytes(reader.u8());
        break;
      case QueryVariable::LcTimeNames:
      case QueryVariable::CharsetDatabase:
      case QueryVariable::DefaultCollationForUtf8mb4:
        reader.skip(2);
        break;
      case QueryVariable::TableMapForUpdate:
      case QueryVariable::DdlLoggedWithXid:
        reader.skip(8);
        break;
      case QueryVariable::SourceDataWritten:
        reader.skip(4);
        break;
      case QueryVariable::Invoker:
        reader.bytes(reader.u8());
        reader.bytes(reader.u8());
        break;
      case QueryVariable::UpdatedDatabases: {
        const uint64_t count = reader.u8();
        if (count == 254) break;  // too many to list
        for (uint64_t i = 0; i < count && reader.ok(); ++i) reader.nul_string();
        break;
      }
      case QueryVariable::Microseconds:
        query.has_microseconds = true;
        reader.skip(3);
        break;
      case QueryVariable::ExplicitDefaultsForTimestamp:
      case QueryVariable::RequirePrimaryKey:
      case QueryVariable::DefaultTableEncryption:
        reader.skip(1);
        break;
      default:
        return;
    }
  }
}

}  // namespace

std::string_view EventView::body(bool checksummed) const {
  const size_t tail = checksummed ? kChecksumLength : 0;
  if (bytes.size() < kHeaderLength + tail) return {};
  return bytes.substr(kHeaderLength, bytes.size() - kHeaderLength - tail);
}

Result<EventView> parse_event(std::string_view bytes) {
  if (bytes.size() < kHeaderLength) return make_error(er::kErrorOnRead, "Event header is cut off");
  ByteReader reader(bytes);
  EventView event;
  event.header.timestamp = reader.le32();
  event.header.type = static_cast<EventType>(reader.u8());
  event.header.server_id = reader.le32();
  event.header.length = reader.le32();
  event.header.end_position = reader.le32();
  event.header.flags = reader.le16();
  if (event.header.length < kHeaderLength) {
    return make_error(er::kErrorOnRead, "Event length {} is impossible", event.header.length);
  }
  if (event.header.length > bytes.size()) return make_error(er::kErrorOnRead, "Event is cut off");
  event.bytes = bytes.substr(0, event.header.length);
  return event;
}

size_t event_length(std::string_view bytes) {
  return bytes.size() < kHeaderLength ? 0 : load_le32(bytes.data() + 9);
}

size_t whole_events(std::string_view bytes, size_t max_bytes) {
  size_t done = 0;
  while (bytes.size() - done >= kHeaderLength) {
    const size_t length = event_length(bytes.substr(done));
    if (length < kHeaderLength || length > bytes.size() - done) break;
    if (done != 0 && done + length > max_bytes) break;
    done += length;
  }
  return done;
}

bool checksum_matches(const EventView& event) {
  if (event.bytes.size() < kHeaderLength + kChecksumLength) return false;
  const size_t covered = event.bytes.size() - kChecksumLength;
  return event_checksum(event.bytes.substr(0, covered)) == load_le32(event.bytes.data() + covered);
}

Result<GtidEvent> parse_gtid_event(const EventView& event, bool checksummed) {
  ByteReader reader(event.body(checksummed));
  GtidEvent parsed;
  reader.skip(1);  // flags
  const std::string_view sid = reader.bytes(parsed.gtid.sid.bytes.size());
  std::copy(sid.begin(), sid.end(), parsed.gtid.sid.bytes.begin());
  parsed.gtid.gno = reader.le64();
  if (!reader.ok() || parsed.gtid.gno > kMaxGno) return damaged(event, "GTID");
  if (reader.rest().empty() || reader.u8() != kLogicalClockCode) return parsed;
  parsed.last_committed = reader.le64();
  parsed.sequence_number = reader.le64();
  if (!reader.ok()) return damaged(event, "GTID");
  if (reader.rest().empty()) return parsed;
  constexpr uint64_t kOriginalFollows = uint64_t{1} << 55;
  const uint64_t immediate = reader.le(7);
  parsed.immediate_commit_timestamp = immediate & ~kOriginalFollows;
  parsed.original_commit_timestamp =
      (immediate & kOriginalFollows) != 0 ? reader.le(7) : parsed.immediate_commit_timestamp;
  if (!reader.rest().empty()) parsed.transaction_length = reader.lenenc();
  if (!reader.ok()) return damaged(event, "GTID");
  return parsed;
}

Result<QueryEvent> parse_query_event(const EventView& event, bool checksummed) {
  ByteReader reader(event.body(checksummed));
  QueryEvent query;
  query.thread_id = reader.le32();
  reader.skip(4);  // execution time
  const uint64_t db_length = reader.u8();
  query.error_code = reader.le16();
  const uint64_t variables_length = reader.le16();
  const std::string_view variables = reader.bytes(variables_length);
  query.db = std::string(reader.bytes(db_length));
  reader.skip(1);
  if (!reader.ok()) return damaged(event, "Query");
  query.sql = std::string(reader.rest());
  parse_status_variables(variables, query);
  return query;
}

Result<TableMapEvent> parse_table_map_event(const EventView& event, bool checksummed) {
  ByteReader reader(event.body(checksummed));
  TableMapEvent map;
  map.table_id = reader.le48();
  reader.skip(2);  // flags
  map.db = std::string(reader.bytes(reader.u8()));
  reader.skip(1);
  map.table = std::string(reader.bytes(reader.u8()));
  reader.skip(1);
  const std::string_view types = reader.bytes(reader.lenenc());
  if (!reader.ok()) return damaged(event, "Table_map");
  map.types.assign(types.begin(), types.end());
  map.metadata = std::string(reader.bytes(reader.lenenc()));
  if (!reader.ok()) return damaged(event, "Table_map");
  return map;
}

Result<RowsEvent> parse_rows_event(const EventView& event, bool checksummed) {
  ByteReader reader(event.body(checksummed));
  RowsEvent rows;
  rows.type = event.header.type;
  rows.table_id = reader.le48();
  rows.statement_end = (reader.le16() & kRowsStatementEnd) != 0;
  const uint64_t extra_length = reader.le16();  // counts itself
  if (extra_length < 2) return damaged(event, "Rows");
  reader.bytes(extra_length - 2);
  rows.columns = reader.lenenc();
  const uint64_t bitmap_length = rows.columns / 8 + (rows.columns % 8 != 0);
  rows.before_bitmap = reader.bytes(bitmap_length);
  if (rows.type == EventType::UpdateRows) rows.after_bitmap = reader.bytes(bitmap_length);
  if (!reader.ok()) return damaged(event, "Rows");
  rows.rows = reader.rest();
  return rows;
}

std::optional<OwnEvent> parse_own_event(const EventView& event, bool checksummed) {
  if (event.header.type != EventType::Ignorable) return std::nullopt;
  ByteReader reader(event.body(checksummed));
  if (reader.bytes(kOwnMagic.size()) != kOwnMagic) return std::nullopt;
  OwnEvent own;
  own.kind = static_cast<OwnKind>(reader.u8());
  if (!reader.ok()) return std::nullopt;
  own.payload = reader.rest();
  return own;
}

std::optional<GroupOpen> parse_group_open(const EventView& event, bool checksummed) {
  const auto own = parse_own_event(event, checksummed);
  if (!own || own->kind != OwnKind::GroupOpen) return std::nullopt;
  ByteReader reader(own->payload);
  GroupOpen open;
  open.number = reader.le64();
  open.acknowledged.file = reader.le32();
  open.acknowledged.offset = reader.le64();
  open.earlier_is_durable = reader.u8() != 0;
  if (!reader.ok()) return std::nullopt;
  return open;
}

}  // namespace commitd::binlog

#include "binlog/event_writer.h"

#include <array>

#include "base/bytes.h"
#include "base/crc32.h"
#include "base/error_codes.h"

namespace commitd::binlog {
namespace {

constexpr size_t kLengthOffset = 9;
constexpr size_t kEndPositionOffset = 13;
constexpr size_t kFlagsOffset = 17;
constexpr size_t kTypeOffset = 4;
constexpr size_t kLogicalClockOffset = kHeaderLength + 1 + 16 + 8 + 1;
constexpr size_t kServerVersionLength = 50;
constexpr uint8_t kChecksumCrc32 = 1;

// Length of the fixed part behind the header, for event types 1 to 42, as MySQL 8.4 writes it.
constexpr std::array<uint8_t, 42> kPostHeaderLengths = {
    0, 13, 0, 8, 0, 0, 0, 0, 4,  0,  4,  0,  0,  0, 99, 0,  4, 26, 8,  0, 0,
    0, 8,  8, 8, 2, 0, 0, 0, 10, 10, 10, 42, 42, 0, 18, 52, 0, 10, 40, 0, 0,
};

size_t lenenc_size(uint64_t value) {
  return value < 251 ? 1 : value < 1u << 16 ? 3 : value < 1u << 24 ? 4 : 9;
}

}  // namespace

uint32_t event_checksum(std::string_view event) {
  const auto type = static_cast<EventType>(event[kTypeOffset]);
  if (type != EventType::FormatDescription) return crc32_of(event);
  std::string copy(event);
  store_le16(copy.data() + kFlagsOffset, load_le16(event.data() + kFlagsOffset) & ~kFlagInUse);
  return crc32_of(copy);
}

size_t begin_event(std::string& out, EventType type, EventOrigin origin, uint16_t flags) {
  const size_t start = out.size();
  ByteWriter w(out);
  w.le32(origin.timestamp);
  w.u8(static_cast<uint8_t>(type));
  w.le32(origin.server_id);
  w.le64(0);  // length and end position
  w.le16(flags);
  return start;
}

void end_event(std::string& out, size_t start) {
  out.append(kChecksumLength, '\0');
  store_le32(out.data() + start + kLengthOffset, out.size() - start);
}

uint32_t seal_event(char* event, uint64_t start_position) {
  const uint32_t length = load_le32(event + kLengthOffset);
  store_le32(event + kEndPositionOffset, start_position + length);
  const size_t covered = length - kChecksumLength;
  store_le32(event + covered, event_checksum({event, covered}));
  return length;
}

Status seal_events(char* events, size_t length, uint64_t start_position) {
  size_t done = 0;
  while (done < length) {
    auto event = parse_event({events + done, length - done});
    if (!event) return std::move(event).error();
    if (event->bytes.size() < kHeaderLength + kChecksumLength) {
      return make_error(er::kErrorOnRead, "Event of {} bytes has no room for a checksum",
                        event->bytes.size());
    }
    done += seal_event(events + done, start_position + done);
  }
  return {};
}

void append_format_description(std::string& out, EventOrigin origin, std::string_view server_version) {
  const size_t start = begin_event(out, EventType::FormatDescription, origin);
  ByteWriter w(out);
  w.le16(4);
  std::string version(server_version.substr(0, kServerVersionLength - 1));
  version.resize(kServerVersionLength);
  out += version;
  w.le32(0);  // "created" is set only by a server whose start must drop its replicas' temporary tables; we
              // log none
  w.u8(kHeaderLength);
  out.append(reinterpret_cast<const char*>(kPostHeaderLengths.data()), kPostHeaderLengths.size());
  w.u8(kChecksumCrc32);
  end_event(out, start);
}

void append_previous_gtids(std::string& out, EventOrigin origin, const GtidSet& gtids) {
  const size_t start = begin_event(out, EventType::PreviousGtids, origin, kFlagIgnorable);
  ByteWriter w(out);
  out += gtids.encode();
  end_event(out, start);
}

void append_rotate(std::string& out, EventOrigin origin, std::string_view next_file) {
  const size_t start = begin_event(out, EventType::Rotate, origin);
  ByteWriter w(out);
  w.le64(kFileMagic.size());
  out += next_file;
  end_event(out, start);
}

void append_stop(std::string& out, EventOrigin origin) {
  end_event(out, begin_event(out, EventType::Stop, origin));
}

uint64_t whole_transaction_length(uint64_t length_behind_gtid, const GtidEvent& gtid) {
  const bool original_differs = gtid.original_commit_timestamp != gtid.immediate_commit_timestamp;
  const uint64_t without_length =
      length_behind_gtid + kLogicalClockOffset + 16 + 7 + (original_differs ? 7 : 0) + 4 + kChecksumLength;
  uint64_t total = without_length + lenenc_size(without_length);
  return without_length + lenenc_size(total);
}

void append_gtid(std::string& out, EventOrigin origin, const GtidEvent& gtid, bool row_events_only) {
  const size_t start = begin_event(out, EventType::Gtid, origin);
  ByteWriter w(out);
  w.u8(row_events_only ? 0 : 1);
  out.append(reinterpret_cast<const char*>(gtid.gtid.sid.bytes.data()), gtid.gtid.sid.bytes.size());
  w.le64(gtid.gtid.gno);
  w.u8(kLogicalClockCode);
  w.le64(gtid.last_committed);
  w.le64(gtid.sequence_number);
  const bool original_differs = gtid.original_commit_timestamp != gtid.immediate_commit_timestamp;
  w.le(gtid.immediate_commit_timestamp | (original_differs ? uint64_t{1} << 55 : 0), 7);
  if (original_differs) w.le(gtid.original_commit_timestamp, 7);
  w.lenenc(gtid.transaction_length);
  w.le32(kServerVersionNumber);
  end_event(out, start);
}

void append_query(std::string& out, EventOrigin origin, const TransactionBuffer::Context& context,
                  std::string_view db, std::string_view sql) {
  ByteWriter w(out);
  const auto code = [&](QueryVariable variable) { w.u8(static_cast<uint8_t>(variable)); };
  const size_t start = begin_event(out, EventType::Query, origin);
  w.le32(context.thread_id);
  w.le32(0);  // execution time
  w.u8(db.size());
  w.le16(0);  // error code
  const size_t variables_length = out.size();
  w.le16(0);
  code(QueryVariable::Flags2);
  w.le32(0);
  code(QueryVariable::SqlMode);
  w.le64(context.sql_mode);
  code(QueryVariable::CatalogNz);
  w.u8(3);
  out += "std";
  code(QueryVariable::Charset);
  w.le16(context.client_collation);
  w.le16(context.connection_collation);
  w.le16(context.server_collation);
  code(QueryVariable::TimeZone);
  w.u8(context.time_zone.size());
  out += context.time_zone;
  store_le16(out.data() + variables_length, out.size() - variables_length - 2);
  out += db;
  out += '\0';
  out += sql;
  end_event(out, start);
}

void append_xid(std::string& out, EventOrigin origin, uint64_t xid) {
  const size_t start = begin_event(out, EventType::Xid, origin);
  ByteWriter w(out);
  w.le64(xid);
  end_event(out, start);
}

void append_own(std::string& out, EventOrigin origin, OwnKind kind, std::string_view payload) {
  const size_t start = begin_event(out, EventType::Ignorable, origin, kFlagIgnorable);
  ByteWriter w(out);
  out += kOwnMagic;
  w.u8(static_cast<uint8_t>(kind));
  out += payload;
  end_event(out, start);
}

void append_group_open(std::string& out, EventOrigin origin, const GroupOpen& open) {
  std::string payload;
  ByteWriter w(payload);
  w.le64(open.number);
  w.le32(open.acknowledged.file);
  w.le64(open.acknowledged.offset);
  w.u8(open.earlier_is_durable ? 1 : 0);
  append_own(out, origin, OwnKind::GroupOpen, payload);
}

void patch_logical_clock(char* event, int64_t last_committed, int64_t sequence_number) {
  store_le64(event + kLogicalClockOffset, last_committed);
  store_le64(event + kLogicalClockOffset + 8, sequence_number);
}

}  // namespace commitd::binlog

#include "replication/dump_framing.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "binlog/event_writer.h"

namespace commitd::replication {
namespace {

using binlog::EventType;

// Offsets in an event's header.
constexpr size_t kLengthAt = 9;
constexpr size_t kEndPositionAt = 13;
constexpr size_t kFlagsAt = 17;
// In the body of a format description, behind version and server name.
constexpr size_t kCreatedAt = binlog::kHeaderLength + 2 + 50;

// Readers pass over fields that they do not know.
enum class HeartbeatField : uint8_t {
  End = 0,
  File = 1,
  Position = 2,
  Watermark = 100,
  Question = 101,
  Mark = 102
};

void recompute_checksum(std::string& event) {
  const size_t covered = event.size() - binlog::kChecksumLength;
  store_le32(event.data() + covered, binlog::event_checksum({event.data(), covered}));
}

// Gives an event that has no place in any file its end position and, where the reader wants it, its checksum.
std::string seal_artificial(std::string event, uint32_t end_position, bool checksummed) {
  if (checksummed) event.append(binlog::kChecksumLength, '\0');
  store_le32(event.data() + kLengthAt, static_cast<uint32_t>(event.size()));
  store_le32(event.data() + kEndPositionAt, end_position);
  if (checksummed) recompute_checksum(event);
  return event;
}

std::string heartbeat_fields(const Heartbeat& heartbeat) {
  std::string body;
  ByteWriter writer(body);
  const auto field = [&](HeartbeatField kind, std::string_view value) {
    writer.lenenc(static_cast<uint8_t>(kind));
    writer.lenenc_string(value);
  };
  field(HeartbeatField::File, heartbeat.file);
  std::string position;
  ByteWriter(position).lenenc(heartbeat.position);
  field(HeartbeatField::Position, position);
  if (heartbeat.watermark) {
    const Gtid& gtid = heartbeat.watermark->gtid;
    std::string value;
    if (!gtid.empty()) {
      value.append(reinterpret_cast<const char*>(gtid.sid.bytes.data()), gtid.sid.bytes.size());
      ByteWriter(value).le64(gtid.gno);
    }
    field(HeartbeatField::Watermark, value);
  }
  const auto number = [&](HeartbeatField kind, std::optional<uint64_t> what) {
    if (!what) return;
    std::string value;
    ByteWriter(value).le64(*what);
    field(kind, value);
  };
  number(HeartbeatField::Question, heartbeat.question);
  number(HeartbeatField::Mark, heartbeat.mark);
  writer.lenenc(static_cast<uint8_t>(HeartbeatField::End));
  return body;
}

Watermark parse_watermark(std::string_view value) {
  Watermark watermark;
  ByteReader reader(value);
  const std::string_view sid = reader.bytes(watermark.gtid.sid.bytes.size());
  const uint64_t gno = reader.le64();
  if (!reader.ok()) return {};
  std::copy(sid.begin(), sid.end(), watermark.gtid.sid.bytes.begin());
  watermark.gtid.gno = gno;
  return watermark;
}

}  // namespace

std::string fake_rotate(uint32_t server_id, std::string_view file, uint64_t position, bool checksummed) {
  std::string event;
  binlog::begin_event(event, EventType::Rotate, {.server_id = server_id, .timestamp = 0},
                      binlog::kFlagArtificial);
  ByteWriter writer(event);
  writer.le64(position);
  writer.bytes(file);
  return seal_artificial(std::move(event), 0, checksummed);
}

std::string shipped_format_description(std::string_view event, bool artificial, bool checksummed) {
  std::string copy(event);
  store_le16(copy.data() + kFlagsAt, load_le16(copy.data() + kFlagsAt) & ~binlog::kFlagInUse);
  if (artificial) {
    store_le32(copy.data() + kEndPositionAt, 0);
    store_le32(copy.data() + kCreatedAt, 0);
  }
  if (!checksummed) copy[copy.size() - binlog::kChecksumLength - 1] = 0;
  recompute_checksum(copy);
  return copy;
}

std::string heartbeat_event(uint32_t server_id, const Heartbeat& heartbeat, bool second_form,
                            bool checksummed) {
  std::string event;
  binlog::begin_event(event, second_form ? EventType::HeartbeatV2 : EventType::Heartbeat,
                      {.server_id = server_id, .timestamp = 0});
  event += second_form ? heartbeat_fields(heartbeat) : heartbeat.file;
  return seal_artificial(std::move(event), static_cast<uint32_t>(heartbeat.position), checksummed);
}

Result<Heartbeat> parse_heartbeat(const binlog::EventView& event, bool checksummed) {
  Heartbeat heartbeat;
  const std::string_view body = event.body(checksummed);
  if (event.header.type == EventType::Heartbeat) {
    heartbeat.file = std::string(body);
    heartbeat.position = event.header.end_position;
    return heartbeat;
  }
  ByteReader reader(body);
  while (reader.ok() && !reader.at_end()) {
    const uint64_t kind = reader.lenenc();
    if (kind == static_cast<uint8_t>(HeartbeatField::End)) return heartbeat;
    const std::string_view value = reader.lenenc_string();
    if (kind == static_cast<uint8_t>(HeartbeatField::File)) heartbeat.file = std::string(value);
    if (kind == static_cast<uint8_t>(HeartbeatField::Position))
      heartbeat.position = ByteReader(value).lenenc();
    if (kind == static_cast<uint8_t>(HeartbeatField::Watermark)) heartbeat.watermark = parse_watermark(value);
    if (kind == static_cast<uint8_t>(HeartbeatField::Question)) heartbeat.question = ByteReader(value).le64();
    if (kind == static_cast<uint8_t>(HeartbeatField::Mark)) heartbeat.mark = ByteReader(value).le64();
  }
  return make_error(er::kErrorOnRead, "The source sent a damaged heartbeat of {} bytes", body.size());
}

std::string with_checksum(std::string_view event) {
  std::string copy(event);
  copy.append(binlog::kChecksumLength, '\0');
  store_le32(copy.data() + kLengthAt, static_cast<uint32_t>(copy.size()));
  recompute_checksum(copy);
  return copy;
}

size_t append_without_checksum(std::string& out, std::string_view event) {
  const size_t length = event.size() - binlog::kChecksumLength;
  out.append(event.substr(0, length));
  store_le32(out.data() + out.size() - length + kLengthAt, static_cast<uint32_t>(length));
  return length;
}

}  // namespace commitd::replication

#include "replication/dump_framing.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crc32.h"
#include "binlog/event_writer.h"
#include "replication/semisync_protocol.h"

namespace commitd::replication {
namespace {

using binlog::EventType;
using namespace std::string_view_literals;

binlog::EventView parsed(std::string_view bytes) {
  auto event = binlog::parse_event(bytes);
  EXPECT_TRUE(event.ok());
  EXPECT_EQ(event->header.length, bytes.size());
  return *event;
}

TEST(DumpFraming, FakeRotateHasNoPlaceInAnyFile) {
  const std::string bytes = fake_rotate(7, "binlog.000012", 4, true);
  const binlog::EventView event = parsed(bytes);
  EXPECT_EQ(event.header.type, EventType::Rotate);
  EXPECT_EQ(event.header.timestamp, 0u);
  EXPECT_EQ(event.header.server_id, 7u);
  EXPECT_EQ(event.header.end_position, 0u);
  EXPECT_EQ(event.header.flags, binlog::kFlagArtificial);
  EXPECT_EQ(event.body(true), "\x04\0\0\0\0\0\0\0binlog.000012"sv);
  EXPECT_EQ(load_le32(bytes.data() + bytes.size() - 4), crc32_of({bytes.data(), bytes.size() - 4}));
  EXPECT_EQ(fake_rotate(7, "binlog.000012", 4, false).size(), bytes.size() - 4);
}

TEST(DumpFraming, FormatDescriptionIsNeverShippedAsInUse) {
  std::string from_log;
  binlog::append_format_description(from_log, {7, 1700000000}, "8.4.0-commitd");
  binlog::seal_event(from_log.data(), 4);
  store_le16(from_log.data() + 17, binlog::kFlagInUse);
  store_le32(from_log.data() + 19 + 52, 1700000000);  // created

  const std::string shipped = shipped_format_description(from_log, false, true);
  EXPECT_EQ(parsed(shipped).header.flags, 0);
  EXPECT_EQ(parsed(shipped).header.end_position, 127u);
  EXPECT_EQ(load_le32(shipped.data() + 19 + 52), 1700000000u);
  EXPECT_TRUE(binlog::checksum_matches(parsed(shipped)));

  const std::string artificial = shipped_format_description(from_log, true, true);
  EXPECT_EQ(parsed(artificial).header.end_position, 0u);
  EXPECT_EQ(load_le32(artificial.data() + 19 + 52), 0u);
  EXPECT_TRUE(binlog::checksum_matches(parsed(artificial)));
}

TEST(DumpFraming, AReaderWithoutChecksumsIsToldSo) {
  std::string from_log;
  binlog::append_format_description(from_log, {7, 0}, "8.4.0-commitd");
  binlog::seal_event(from_log.data(), 4);
  const std::string shipped = shipped_format_description(from_log, false, false);
  EXPECT_EQ(shipped.size(), from_log.size());
  EXPECT_EQ(shipped[shipped.size() - 5], 0);
  EXPECT_TRUE(binlog::checksum_matches(parsed(shipped)));
}

TEST(DumpFraming, FirstFormOfTheHeartbeatIsTheFileName) {
  const std::string bytes = heartbeat_event(7, {"binlog.000001", 1234, std::nullopt, {}}, false, true);
  const binlog::EventView event = parsed(bytes);
  EXPECT_EQ(event.header.type, EventType::Heartbeat);
  EXPECT_EQ(event.header.end_position, 1234u);
  EXPECT_EQ(event.body(true), "binlog.000001");
}

TEST(DumpFraming, SecondFormOfTheHeartbeatIsAListOfFields) {
  const std::string bytes = heartbeat_event(7, {"binlog.000001", 300, std::nullopt, {}}, true, false);
  const binlog::EventView event = parsed(bytes);
  EXPECT_EQ(event.header.type, EventType::HeartbeatV2);
  EXPECT_EQ(event.body(false),
            "\x01\x0d"
            "binlog.000001\x02\x03\xfc\x2c\x01\x00"sv);
}

TEST(DumpFraming, WatermarkComesBackAsSent) {
  const Watermark with_gtid{{Uuid::random(), 99}};
  for (const Watermark& watermark : {with_gtid, Watermark{}}) {
    const std::string bytes =
        heartbeat_event(7, {"binlog.000001", uint64_t{5} << 32, watermark, {}}, true, true);
    auto again = parse_heartbeat(parsed(bytes), true);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->file, "binlog.000001");
    EXPECT_EQ(again->position, uint64_t{5} << 32);
    EXPECT_EQ(again->watermark, watermark);
  }
}

TEST(DumpFraming, QuestionsAndMarksComeBackAsSent) {
  Heartbeat sent{"binlog.000001", 300, {}, 17};
  sent.mark = 0;
  auto again = parse_heartbeat(parsed(heartbeat_event(7, sent, true, true)), true);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->question, 17u);
  EXPECT_EQ(again->mark, 0u);
  sent.question.reset();
  sent.mark = uint64_t{1} << 40;
  again = parse_heartbeat(parsed(heartbeat_event(7, sent, true, true)), true);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_FALSE(again->question);
  EXPECT_EQ(again->mark, uint64_t{1} << 40);
}

// What later servers say, as marks were once: who does not know it reads the rest.
TEST(DumpFraming, AFieldThatIsNotKnownIsPassedOver) {
  std::string bytes = heartbeat_event(7, {"binlog.000001", 300, {}, 5}, true, false);
  bytes.insert(bytes.size() - 1, "\xc8\x03new");
  store_le32(bytes.data() + 9, static_cast<uint32_t>(bytes.size()));
  auto again = parse_heartbeat(parsed(bytes), false);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->position, 300u);
  EXPECT_EQ(again->question, 5u);
}

TEST(DumpFraming, ACutHeartbeatIsAnError) {
  const std::string bytes = heartbeat_event(7, {"binlog.000001", 300, Watermark{}, {}}, true, false);
  for (size_t length = binlog::kHeaderLength; length < bytes.size(); ++length) {
    std::string cut = bytes.substr(0, length);
    store_le32(cut.data() + 9, static_cast<uint32_t>(length));
    EXPECT_FALSE(parse_heartbeat(parsed(cut), false).ok()) << length;
  }
}

TEST(SemisyncProtocol, HeadsAreMySqls) {
  EXPECT_EQ(packet_head(false, true), "\0"sv);
  EXPECT_EQ(packet_head(true, false), "\0\xef\0"sv);
  EXPECT_EQ(packet_head(true, true), "\0\xef\x01"sv);
}

TEST(SemisyncProtocol, AcknowledgementNamesFileAndPosition) {
  const std::string packet = encode_acknowledgement({"binlog.000003", 0x0102});
  EXPECT_EQ(packet, "\xef\x02\x01\0\0\0\0\0\0binlog.000003"sv);
  auto parsed_packet = parse_acknowledgement(packet);
  ASSERT_TRUE(parsed_packet.ok());
  EXPECT_EQ(parsed_packet->file, "binlog.000003");
  EXPECT_EQ(parsed_packet->position, 0x0102u);
  EXPECT_FALSE(parse_acknowledgement("\xef\x02\x01"sv).ok());
  EXPECT_FALSE(parse_acknowledgement("\x01").ok());
}

}  // namespace
}  // namespace commitd::replication

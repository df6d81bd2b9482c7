#include "replication/source_stream.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/testing/recording_file_system.h"
#include "binlog/event_writer.h"
#include "replication/semisync_protocol.h"

namespace commitd::replication {
namespace {

using namespace std::string_view_literals;

const Uuid kSource = *Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562");

// A source's log as packets.
class Packets {
 public:
  explicit Packets(bool semisync, bool checksummed) : semisync_(semisync), checksummed_(checksummed) {
    add_raw(fake_rotate(1, "binlog.000001", 4, checksummed));
    std::string description;
    binlog::append_format_description(description, {1, 1}, "8.4.0");
    binlog::seal_event(description.data(), 4);
    add_raw(shipped_format_description(description, false, checksummed));
    position_ = 4 + description.size();
  }

  template <class Append>
  void add(Append append, bool wants_acknowledgement = false) {
    std::string event;
    append(event);
    position_ += binlog::seal_event(event.data(), position_);
    if (!checksummed_) {
      event.resize(event.size() - 4);
      store_le32(event.data() + 9, static_cast<uint32_t>(event.size()));
    }
    add_raw(event, wants_acknowledgement);
  }
  void add_raw(std::string_view event, bool wants_acknowledgement = false) {
    packets_.push_back(std::string(packet_head(semisync_, wants_acknowledgement)) + std::string(event));
  }

  void gtid(uint64_t gno) {
    add([&](std::string& out) {
      binlog::GtidEvent event;
      event.gtid = {kSource, gno};
      binlog::append_gtid(out, {1, 1}, event, true);
    });
  }
  void query(std::string_view sql, bool wants_acknowledgement = false) {
    add([&](std::string& out) { binlog::append_query(out, {1, 1}, {}, "d", sql); }, wants_acknowledgement);
  }
  void xid(bool wants_acknowledgement = false) {
    add([&](std::string& out) { binlog::append_xid(out, {1, 1}, 5); }, wants_acknowledgement);
  }
  void own(binlog::OwnKind kind) {
    add([&](std::string& out) { binlog::append_own(out, {1, 1}, kind, "12345678"); });
  }

  uint64_t position() const { return position_; }
  const std::vector<std::string>& all() const { return packets_; }

 private:
  const bool semisync_;
  const bool checksummed_;
  uint64_t position_ = 4;
  std::vector<std::string> packets_;
};

std::vector<ReceivedTransaction> feed_all(SourceStream& stream, const Packets& packets) {
  std::vector<ReceivedTransaction> transactions;
  for (const std::string& packet : packets.all()) {
    auto step = stream.feed(packet);
    EXPECT_TRUE(step.ok()) << step.error().message;
    if (step.ok() && step->transaction) transactions.push_back(std::move(*step->transaction));
  }
  return transactions;
}

class SourceStreamTest : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(SourceStreamTest, CutsTheStreamIntoTransactions) {
  const auto [semisync, checksummed] = GetParam();
  Packets packets(semisync, checksummed);
  packets.gtid(1);
  packets.query("BEGIN");
  packets.own(binlog::OwnKind::Epoch);
  packets.xid(true);
  const uint64_t first_end = packets.position();
  packets.gtid(2);
  packets.query("CREATE TABLE t (a INT)");
  packets.gtid(3);
  packets.query("BEGIN");
  packets.query("COMMIT");

  SourceStream stream({semisync, checksummed});
  auto transactions = feed_all(stream, packets);
  ASSERT_EQ(transactions.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(transactions[i].gtid, (Gtid{kSource, i + 1}));
  EXPECT_EQ(transactions[0].source_file, "binlog.000001");
  EXPECT_EQ(transactions[0].source_position, first_end);
  EXPECT_EQ(transactions[0].wants_acknowledgement, semisync);
  EXPECT_FALSE(transactions[1].wants_acknowledgement);

  // What goes into the own log is checksummed whatever the source sends, and begins with the GTID event.
  std::string_view rest = transactions[0].events.tail();
  int events = 0;
  while (!rest.empty()) {
    auto event = binlog::parse_event(rest);
    ASSERT_TRUE(event.ok());
    EXPECT_TRUE(binlog::checksum_matches(*event));
    EXPECT_EQ(event->header.type == binlog::EventType::Gtid, events++ == 0);
    rest.remove_prefix(event->header.length);
  }
  EXPECT_EQ(events, 4);
}

TEST_P(SourceStreamTest, LargeTransactionsGoToTemporaryFiles) {
  const auto [semisync, checksummed] = GetParam();
  Packets packets(semisync, checksummed);
  for (uint64_t gno : {1, 2}) {
    packets.gtid(gno);
    packets.query("CREATE TABLE t (a INT)");
  }
  commitd::testing::RecordingFileSystem fs;
  SourceStream spilling({semisync, checksummed, 100, {&fs, "d"}}), in_memory({semisync, checksummed});
  const auto spilled = feed_all(spilling, packets);
  auto expected = feed_all(in_memory, packets);
  ASSERT_EQ(spilled.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_GT(spilled[i].events.on_disk(), 100u);
    std::string bytes(spilled[i].events.size(), '\0');
    ASSERT_TRUE(spilled[i].events.read(0, bytes).ok());
    EXPECT_EQ(bytes, expected[i].events.tail());
  }
}

INSTANTIATE_TEST_SUITE_P(AllForms, SourceStreamTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()));

TEST(SourceStream, ATransactionThatIsCutOffByANewFileIsForgotten) {
  Packets packets(false, true);
  packets.gtid(1);
  packets.query("BEGIN");
  packets.add_raw(fake_rotate(1, "binlog.000002", 4, true));
  packets.gtid(2);
  packets.query("BEGIN");
  packets.xid();
  SourceStream stream({false, true});
  const auto transactions = feed_all(stream, packets);
  ASSERT_EQ(transactions.size(), 1u);
  EXPECT_EQ(transactions[0].gtid.gno, 2u);
  EXPECT_EQ(transactions[0].source_file, "binlog.000002");
}

TEST(SourceStream, DamageOnTheWayIsNoticed) {
  Packets packets(false, true);
  packets.gtid(1);
  SourceStream stream({false, true});
  for (size_t i = 0; i + 1 < packets.all().size(); ++i) ASSERT_TRUE(stream.feed(packets.all()[i]).ok());
  std::string damaged = packets.all().back();
  damaged[30] ^= 1;
  EXPECT_FALSE(stream.feed(damaged).ok());
}

TEST(SourceStream, TheSourcesErrorIsPassedOn) {
  SourceStream stream({true, true});
  auto step = stream.feed("\xff\xd4\x04#HY000purged"sv);
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.error().message,
            "Got fatal error 1236 from source when reading data from binary log: 'purged'");
  EXPECT_FALSE(SourceStream({true, true}).feed("\xfe\0\0\x02\0"sv).ok());
}

TEST(SourceStream, TransactionsWithoutGtidsAreRefused) {
  Packets packets(false, true);
  packets.add([](std::string& out) {
    binlog::GtidEvent event;
    binlog::append_gtid(out, {1, 1}, event, true);
    out[4] = static_cast<char>(binlog::EventType::AnonymousGtid);
  });
  SourceStream stream({false, true});
  ASSERT_TRUE(stream.feed(packets.all()[0]).ok());
  ASSERT_TRUE(stream.feed(packets.all()[1]).ok());
  EXPECT_FALSE(stream.feed(packets.all()[2]).ok());
}

TEST(SourceStream, WatermarksAreHandedOut) {
  const Watermark watermark{{kSource, 12}};
  Packets packets(true, true);
  packets.add_raw(heartbeat_event(1, {"binlog.000001", 200, watermark, {}}, true, true));
  SourceStream stream({true, true});
  ASSERT_TRUE(stream.feed(packets.all()[0]).ok());
  ASSERT_TRUE(stream.feed(packets.all()[1]).ok());
  auto step = stream.feed(packets.all()[2]);
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->watermark, watermark);
}

}  // namespace
}  // namespace commitd::replication

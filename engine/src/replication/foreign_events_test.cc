#include "replication/foreign_events.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/replication_error_codes.h"
#include "binlog/event_writer.h"
#include "binlog/source_place.h"
#include "replication/source_stream.h"

namespace commitd::replication {
namespace {

using binlog::EventType;

const Uuid kAssigned = *Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562");

// A source's log as packets, with or without checksums.
class Packets {
 public:
  explicit Packets(bool checksummed) : checksummed_(checksummed) {
    packets_.push_back('\0' + fake_rotate(1, "log.000003", 500, checksummed));
    std::string description;
    binlog::append_format_description(description, {1, 1}, "10.11.6-MariaDB");
    binlog::seal_event(description.data(), 4);
    packets_.push_back('\0' + shipped_format_description(description, true, checksummed));
  }

  void add(uint8_t type, std::string_view body) {
    std::string event;
    const size_t start = binlog::begin_event(event, static_cast<EventType>(type), {9, 77});
    event += body;
    binlog::end_event(event, start);
    add(std::move(event));
  }
  void add(std::string event) {
    position_ += checksummed_ ? event.size() : event.size() - binlog::kChecksumLength;
    store_le32(event.data() + 13, static_cast<uint32_t>(position_));
    event.resize(event.size() - binlog::kChecksumLength);
    store_le32(event.data() + 9, static_cast<uint32_t>(event.size()));
    packets_.push_back('\0' + (checksummed_ ? with_checksum(event) : event));
  }
  void query(std::string_view sql) {
    std::string event;
    binlog::append_query(event, {9, 77}, {}, "d", sql);
    add(std::move(event));
  }
  void xid() {
    std::string event;
    binlog::append_xid(event, {9, 77}, 5);
    add(std::move(event));
  }

  uint64_t position() const { return position_; }
  const std::vector<std::string>& all() const { return packets_; }

 private:
  const bool checksummed_;
  uint64_t position_ = 500;
  std::vector<std::string> packets_;
};

class ForeignEventsTest : public ::testing::TestWithParam<bool> {
 protected:
  std::vector<ReceivedTransaction> feed(ForeignEvents::Of of) {
    SourceStream::Options options{false, GetParam()};
    options.foreign.emplace(of, [this] { return Gtid{kAssigned, taken_ + 1}; });
    options.place_series = 4;
    options.auto_position = false;
    SourceStream stream(std::move(options));
    std::vector<ReceivedTransaction> transactions;
    for (const std::string& packet : packets_.all()) {
      auto step = stream.feed(packet);
      if (!step.ok()) {
        error_ = step.error();
        break;
      }
      if (!step->transaction) continue;
      ++taken_;
      transactions.push_back(std::move(*step->transaction));
    }
    position_ = stream.position();
    return transactions;
  }

  // Its events behind the place, all with good checksums; their types.
  std::vector<uint8_t> types_of(ReceivedTransaction& transaction) {
    std::vector<uint8_t> types;
    std::string_view rest = transaction.events.tail();
    rest.remove_prefix(binlog::source_place_length(rest));
    const size_t whole = rest.size();
    while (!rest.empty()) {
      const auto event = binlog::parse_event(rest);
      EXPECT_TRUE(event.ok() && checksum_matches(*event));
      if (event->header.type == EventType::Gtid) {
        EXPECT_EQ(parse_gtid_event(*event, true)->transaction_length, whole);
      }
      types.push_back(static_cast<uint8_t>(event->header.type));
      rest.remove_prefix(event->bytes.size());
    }
    return types;
  }

  Packets packets_{GetParam()};
  uint64_t taken_ = 0, position_ = 0;
  std::optional<Error> error_;
};

std::string anonymous_gtid() {
  std::string event;
  binlog::GtidEvent gtid;
  gtid.immediate_commit_timestamp = gtid.original_commit_timestamp = 5000000;
  gtid.transaction_length = 1;
  binlog::append_gtid(event, {9, 77}, gtid, true);
  event[4] = static_cast<char>(EventType::AnonymousGtid);
  return event;
}

TEST_P(ForeignEventsTest, AnonymousTransactionsGetGtids) {
  const uint64_t begin = packets_.position();
  packets_.add(anonymous_gtid());
  packets_.query("BEGIN");
  packets_.xid();
  const uint64_t middle = packets_.position();
  packets_.add(anonymous_gtid());
  packets_.query("CREATE TABLE t (a INT)");
  auto transactions = feed(ForeignEvents::Of::MySql);
  ASSERT_EQ(transactions.size(), 2u);
  EXPECT_EQ(transactions[0].gtid, (Gtid{kAssigned, 1}));
  EXPECT_EQ(transactions[1].gtid, (Gtid{kAssigned, 2}));
  EXPECT_EQ(transactions[0].committed_at.immediate, 5000000u);
  EXPECT_EQ(types_of(transactions[0]), (std::vector<uint8_t>{33, 2, 16}));
  EXPECT_EQ(types_of(transactions[1]), (std::vector<uint8_t>{33, 2}));
  const auto place = binlog::parse_source_place(*binlog::parse_event(transactions[0].events.tail()));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->series, 4u);
  EXPECT_EQ(place->file, "log.000003");
  EXPECT_EQ(place->begin, begin);
  EXPECT_EQ(place->end, middle);
  EXPECT_EQ(transactions[1].source_begin, middle);
}

// What was numbered and did not end is read again: the number is not lost.
TEST_P(ForeignEventsTest, ATransactionThatIsCutOffTakesNoNumber) {
  packets_.add(anonymous_gtid());
  packets_.query("BEGIN");
  packets_.add(4, std::string("\4\0\0\0\0\0\0\0log.000004", 18));
  packets_.add(anonymous_gtid());
  packets_.query("CREATE TABLE t (a INT)");
  const auto transactions = feed(ForeignEvents::Of::MySql);
  ASSERT_EQ(transactions.size(), 1u);
  EXPECT_EQ(transactions[0].gtid.gno, 1u);
  EXPECT_EQ(transactions[0].source_file, "log.000004");
}

TEST_P(ForeignEventsTest, OfMariaDbATransactionBeginsWithItsFirstStatement) {
  packets_.add(161, "checkpoint");
  packets_.query("# Dummy event replacing event type 162 that slave cannot handle.");
  packets_.query("CREATE TABLE t (a INT)");
  packets_.query("BEGIN");
  packets_.query("# Dumm");
  packets_.add(160, "INSERT INTO t VALUES (1)");
  packets_.add(23, std::string("\1\0\0\0\0\0\1\0\1\xff\xfe\1\0\0\0", 15));
  packets_.add(25, std::string("\1\0\0\0\0\0\1\0\1\xff\xfe\1\0\0\0", 15));
  packets_.xid();
  packets_.add(161, "checkpoint");
  auto transactions = feed(ForeignEvents::Of::MariaDb);
  ASSERT_FALSE(error_) << error_->message;
  ASSERT_EQ(transactions.size(), 2u);
  EXPECT_EQ(types_of(transactions[0]), (std::vector<uint8_t>{33, 2}));
  EXPECT_EQ(types_of(transactions[1]), (std::vector<uint8_t>{33, 2, 30, 32, 16}));
  EXPECT_EQ(transactions[1].committed_at.immediate, 77000000u);
  EXPECT_EQ(position_, packets_.position()) << "behind what is passed over as well";
  std::string_view rest = transactions[1].events.tail();
  while (binlog::parse_event(rest)->header.type != EventType::WriteRows)
    rest.remove_prefix(binlog::event_length(rest));
  const auto rows = binlog::parse_rows_event(*binlog::parse_event(rest), true);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->columns, 1u);
  EXPECT_EQ(rows->rows, std::string_view("\xfe\1\0\0\0", 5));
}

TEST_P(ForeignEventsTest, WhatCannotBeTranslatedIsRefused) {
  packets_.query("BEGIN");
  packets_.add(166, "compressed rows");
  EXPECT_TRUE(feed(ForeignEvents::Of::MariaDb).empty());
  ASSERT_TRUE(error_);
  EXPECT_NE(error_->message.find("log_bin_compress"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutChecksums, ForeignEventsTest, ::testing::Bool());

TEST(AnonymousTransactions, AreRefusedWhereNobodyGivesThemGtids) {
  for (const bool auto_position : {true, false}) {
    Packets packets(true);
    packets.add(anonymous_gtid());
    SourceStream::Options options{};
    options.auto_position = auto_position;
    SourceStream stream(std::move(options));
    ASSERT_TRUE(stream.feed(packets.all()[0]).ok());
    ASSERT_TRUE(stream.feed(packets.all()[1]).ok());
    const auto step = stream.feed(packets.all()[2]);
    ASSERT_FALSE(step.ok());
    EXPECT_EQ(step.error().code, auto_position ? er::kCantReplicateAnonymousWithAutoPosition
                                               : er::kCantReplicateAnonymousWithGtidModeOn);
    EXPECT_NE(step.error().message.find("at file log.000003, position 500."), std::string::npos);
  }
}

}  // namespace
}  // namespace commitd::replication

#include "binlog/source_place.h"

#include <gtest/gtest.h>

#include "base/testing/recording_file_system.h"
#include "binlog/event_writer.h"
#include "binlog/group_builder.h"
#include "binlog/transaction_scanner.h"

namespace commitd::binlog {
namespace {

const Uuid kSource = *Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562");
const SourcePlace kPlace{3, "binlog.000009", 157, 400};

std::string transaction(uint64_t gno) {
  GtidEvent gtid;
  gtid.gtid = {kSource, gno};
  std::string events;
  append_gtid(events, {7, 1}, gtid, true);
  append_query(events, {7, 1}, {}, "d", "CREATE TABLE t (a INT)");
  (void)seal_events(events.data(), events.size(), 0);
  return events;
}

std::string place_and(const std::string& events) {
  std::string all;
  append_source_place(all, {7, 1}, kPlace);
  return all + events;
}

// Of each whole transaction, from `events`, which stand at `offset`.
std::vector<std::optional<SourcePlace>> places_in(std::string_view events, uint64_t offset) {
  std::vector<std::optional<SourcePlace>> places;
  SourcePlaceReader reader;
  TransactionScanner scanner;
  while (!events.empty()) {
    const auto event = parse_event(events);
    EXPECT_TRUE(checksum_matches(*event));
    offset += event->bytes.size();
    EXPECT_EQ(event->header.end_position, offset);
    reader.feed(*event);
    const auto where = scanner.feed(*event, offset);
    EXPECT_TRUE(where.ok());
    if (where.ok() && TransactionScanner::completes(*where)) places.push_back(reader.place());
    events.remove_prefix(event->bytes.size());
  }
  return places;
}

TEST(SourcePlace, IsReadAsItWasWritten) {
  std::string event;
  append_source_place(event, {7, 1}, kPlace);
  EXPECT_EQ(source_place_length(event), event.size());
  const auto read = parse_source_place(*parse_event(event));
  ASSERT_TRUE(read);
  EXPECT_EQ(std::tie(read->series, read->file, read->begin, read->end),
            std::tie(kPlace.series, kPlace.file, kPlace.begin, kPlace.end));
  EXPECT_EQ(event.substr(kSourcePlaceEndAt, 8), std::string("\x90\1\0\0\0\0\0\0", 8));
  EXPECT_EQ(source_place_length(transaction(1)), 0u);
}

TEST(SourcePlace, StandsInFrontOfTheTransactionInTheOwnLog) {
  LogicalClock clock;
  GroupBuilder builder({1, 200}, {1, 1}, clock, {});
  const size_t begin = builder.size();
  const auto with = builder.add_received(place_and(transaction(1)));
  const size_t end = builder.size();
  const auto without = builder.add_received(transaction(2));
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_GT(with->start.offset, 200 + begin) << "it is not the transaction's";
  EXPECT_EQ(with->end.offset, 200 + end);
  EXPECT_EQ(without->start, with->end);
  const auto bytes = builder.take();
  const auto gtid =
      parse_gtid_event(*parse_event(std::string_view(*bytes).substr(with->start.offset - 200)), true);
  ASSERT_TRUE(gtid.ok());
  EXPECT_EQ(gtid->sequence_number, 1);
  const auto places = places_in(*bytes, 200);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0]->file, kPlace.file);
  EXPECT_FALSE(places[1]) << "a place is that of one transaction";
}

TEST(SourcePlace, StandsInFrontOfOneThatIsSpilled) {
  commitd::testing::RecordingFileSystem fs;
  EventSpool spool;
  spool.tail() = place_and(transaction(1));
  ASSERT_TRUE(spool.spill({&fs, "d"}, spool.size()).ok());
  LogicalClock clock;
  GroupBuilder builder({1, 200}, {1, 1}, clock, {});
  const size_t begin = builder.size();
  const auto placed = builder.add_received_spilled(spool);
  ASSERT_TRUE(placed.ok());
  EXPECT_EQ(placed->end.offset, 200 + begin + spool.size());
  const size_t head = builder.size() - begin;
  std::string first(head, '\0');
  ASSERT_TRUE(spool.read(0, first).ok());
  EXPECT_EQ(parse_event(std::string_view(first).substr(source_place_length(first)))->bytes.size(),
            head - source_place_length(first))
      << "place and GTID event are in memory";
}

// A cut may leave it at the log's end, and others write behind it.
TEST(SourcePlace, OfATransactionThatIsGoneCountsForNoOther) {
  LogicalClock clock;
  std::string log;
  append_source_place(log, {7, 1}, kPlace);
  seal_event(log.data(), 200);
  GroupBuilder next({1, 200 + log.size()}, {1, 1}, clock, {});
  ASSERT_TRUE(next.add_received(transaction(1)).ok());
  const auto places = places_in(log + *next.take(), 200);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_FALSE(places[0]);
}

}  // namespace
}  // namespace commitd::binlog

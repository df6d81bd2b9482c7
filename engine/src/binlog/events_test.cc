#include <random>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/testing/recording_file_system.h"
#include "binlog/event_writer.h"
#include "binlog/table_map.h"
#include "binlog/testing/orders.h"
#include "binlog/transaction_scanner.h"

namespace commitd::binlog {
namespace {

using namespace testing;

EventView sealed(std::string& bytes, uint64_t at = 4) {
  seal_event(bytes.data(), at);
  auto event = parse_event(bytes);
  EXPECT_TRUE(event.ok());
  EXPECT_TRUE(checksum_matches(*event));
  EXPECT_EQ(event->header.end_position, at + bytes.size());
  return *event;
}

std::vector<EventView> split(std::string_view bytes) {
  std::vector<EventView> events;
  while (!bytes.empty()) {
    auto event = parse_event(bytes);
    if (!event) {
      ADD_FAILURE() << event.error().message;
      break;
    }
    events.push_back(*event);
    bytes.remove_prefix(event->bytes.size());
  }
  return events;
}

TEST(Events, FormatDescriptionIsLaidOutAsInMySql84) {
  std::string bytes;
  append_format_description(bytes, {7, 1700000000}, "8.4.0-commitd");
  const EventView event = sealed(bytes);
  EXPECT_EQ(bytes.size(), 123u);
  EXPECT_EQ(event.header.end_position, 127u);
  const std::string_view body = event.body(true);
  EXPECT_EQ(body.substr(0, 2), std::string_view("\x04\x00", 2));
  EXPECT_STREQ(body.data() + 2, "8.4.0-commitd");
  EXPECT_EQ(body[56], 19);
  EXPECT_EQ(static_cast<uint8_t>(body[57 + 14]), 99);  // its own fixed part
  EXPECT_EQ(body.back(), 1);                           // CRC32
}

TEST(Events, ChecksumNoticesEveryFlippedByte) {
  std::string bytes;
  append_xid(bytes, {}, 42);
  sealed(bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i >= 9 && i < 13) continue;  // the length: the event is then a different piece of memory
    std::string damaged = bytes;
    damaged[i] ^= 0x10;
    EXPECT_FALSE(checksum_matches(*parse_event(damaged))) << i;
  }
}

TEST(Events, InUseFlagDoesNotCountInTheChecksum) {
  std::string bytes;
  append_format_description(bytes, {}, "8.4.0");
  sealed(bytes);
  bytes[17] |= kFlagInUse;
  EXPECT_TRUE(checksum_matches(*parse_event(bytes)));
}

TEST(Events, CutOffEventsAreErrors) {
  std::string bytes;
  append_query(bytes, {}, {}, "shop", "DROP TABLE orders");
  sealed(bytes);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(parse_event(std::string_view(bytes).substr(0, length)).ok());
}

TEST(Events, GtidComesBackAndCountsTheWholeTransaction) {
  for (const uint64_t behind : {1ull, 150ull, 200ull, 65'400ull, 70'000ull, 20'000'000ull}) {
    for (const uint64_t original : {1'700'000'000'000'000ull, 1'600'000'000'000'000ull}) {
      GtidEvent gtid{{server_a(), 9}, 3, 5, 0, 1'700'000'000'000'000ull, original};
      gtid.transaction_length = whole_transaction_length(behind, gtid);
      std::string bytes;
      append_gtid(bytes, {}, gtid, true);
      EXPECT_EQ(gtid.transaction_length, bytes.size() + behind);
      patch_logical_clock(bytes.data(), 11, 12);
      auto parsed = parse_gtid_event(sealed(bytes), true);
      ASSERT_TRUE(parsed.ok());
      EXPECT_EQ(parsed->gtid, gtid.gtid);
      EXPECT_EQ(parsed->last_committed, 11);
      EXPECT_EQ(parsed->sequence_number, 12);
      EXPECT_EQ(parsed->transaction_length, gtid.transaction_length);
      EXPECT_EQ(parsed->immediate_commit_timestamp, gtid.immediate_commit_timestamp);
      EXPECT_EQ(parsed->original_commit_timestamp, original);
    }
  }
}

TEST(Events, QueryCarriesWhatItsMeaningDependsOn) {
  TransactionBuffer::Context context;
  context.thread_id = 5;
  context.sql_mode = 0x40000020;
  context.time_zone = "+02:00";
  context.client_collation = 255;
  context.server_collation = 8;
  std::string bytes;
  append_query(bytes, {}, context, "shop", "CREATE TABLE t (a INT)");
  auto query = parse_query_event(sealed(bytes), true);
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(query->thread_id, 5u);
  EXPECT_EQ(query->db, "shop");
  EXPECT_EQ(query->sql, "CREATE TABLE t (a INT)");
  EXPECT_EQ(query->sql_mode, context.sql_mode);
  EXPECT_EQ(query->time_zone, "+02:00");
  EXPECT_EQ(query->client_collation, 255);
  EXPECT_EQ(query->connection_collation, 45);
  EXPECT_EQ(query->server_collation, 8);
  EXPECT_TRUE(query->by_commitd);
}

// MySQL's DDL always has some more.
TEST(Events, AQueryOfAnotherServerIsKnown) {
  std::string bytes;
  append_query(bytes, {}, {}, "shop", "CREATE TABLE t (a REAL)");
  const size_t length_at = kHeaderLength + 11, variables_at = kHeaderLength + 13;
  const uint16_t length = load_le16(bytes.data() + length_at);
  for (const std::string& more : {std::string("\x11\0\0\0\0\0\0\0\1", 9), std::string("\x0c\1d\0", 4)}) {
    std::string other = bytes;
    other.insert(variables_at + length, more);
    store_le16(other.data() + length_at, static_cast<uint16_t>(length + more.size()));
    store_le32(other.data() + 9, static_cast<uint32_t>(other.size()));
    auto query = parse_query_event(sealed(other), true);
    ASSERT_TRUE(query.ok());
    EXPECT_EQ(query->sql, "CREATE TABLE t (a REAL)");
    EXPECT_FALSE(query->by_commitd);
  }
}

TEST(Events, OwnEventsAreIgnorableAndOthersAreNotOurs) {
  std::string bytes;
  append_group_open(bytes, {}, {12, {3, 400}, true});
  const EventView event = sealed(bytes);
  EXPECT_EQ(event.header.flags & kFlagIgnorable, kFlagIgnorable);
  auto open = parse_group_open(event, true);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->number, 12u);
  EXPECT_EQ(open->acknowledged, (LogPosition{3, 400}));
  EXPECT_TRUE(open->earlier_is_durable);

  std::string foreign;
  end_event(foreign, begin_event(foreign, EventType::Ignorable, {}, kFlagIgnorable));
  EXPECT_FALSE(parse_own_event(sealed(foreign), true).has_value());
}

TEST(TransactionBuffer, RowsOfOneStatementShareAnEvent) {
  const TableDef table = orders_table();
  TransactionBuffer buffer{TransactionBuffer::Context{}};
  buffer.insert_row(table, orders_image(table, 1, "a"));
  buffer.insert_row(table, orders_image(table, 2, "b"));
  buffer.update_row(table, orders_image(table, 1, "a"), orders_image(table, 1, "c"));
  buffer.end_statement();
  buffer.delete_row(table, orders_image(table, 2, "b"));
  buffer.finish(1);
  const auto events = split(buffer.bytes());
  std::vector<EventType> types;
  for (const EventView& event : events) types.push_back(event.header.type);
  EXPECT_EQ(types,
            (std::vector{EventType::Query, EventType::TableMap, EventType::WriteRows, EventType::UpdateRows,
                         EventType::TableMap, EventType::DeleteRows, EventType::Xid}));
  auto map = parse_table_map_event(events[1], true);
  EXPECT_EQ(map->table, "orders");
  EXPECT_EQ(map->types, (std::vector<uint8_t>{3, 15}));
  auto insert = parse_rows_event(events[2], true);
  EXPECT_EQ(insert->rows, orders_image(table, 1, "a") + orders_image(table, 2, "b"));
  EXPECT_FALSE(insert->statement_end);
  auto update = parse_rows_event(events[3], true);
  EXPECT_EQ(update->rows, orders_image(table, 1, "a") + orders_image(table, 1, "c"));
  EXPECT_TRUE(update->statement_end);
  EXPECT_TRUE(parse_rows_event(events[5], true)->statement_end);
}

TEST(TransactionBuffer, LargeStatementsAreSplitAndEndOnce) {
  const TableDef table = orders_table();
  TransactionBuffer buffer{TransactionBuffer::Context{}};
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    all += orders_image(table, i, std::string(100, 'x'));
    buffer.insert_row(table, orders_image(table, i, std::string(100, 'x')));
  }
  buffer.finish(1);
  std::string rows;
  int ends = 0, maps = 0, parts = 0;
  for (const EventView& event : split(buffer.bytes())) {
    maps += event.header.type == EventType::TableMap;
    if (event.header.type != EventType::WriteRows) continue;
    auto part = parse_rows_event(event, true);
    EXPECT_LT(event.bytes.size(), 9000u);
    rows += part->rows;
    ends += part->statement_end;
    ++parts;
    EXPECT_EQ(part->statement_end, rows.size() == all.size());
  }
  EXPECT_EQ(rows, all);
  EXPECT_EQ(maps, 1);
  EXPECT_EQ(ends, 1);
  EXPECT_GT(parts, 10);
}

TEST(TransactionBuffer, RowIdsStandInFrontOfTheirRows) {
  TableDef table = orders_table();
  table.indexes[0].primary = false;
  TransactionBuffer buffer{TransactionBuffer::Context{}};
  buffer.delete_row(table, orders_image(table, 1, "a"), 41);
  buffer.delete_row(table, orders_image(table, 2, "b"), 42);
  buffer.finish(1);
  const auto events = split(buffer.bytes());
  ASSERT_EQ(events.size(), 5u);
  const auto ids = parse_own_event(events[2], true);
  ASSERT_TRUE(ids.has_value());
  EXPECT_EQ(ids->kind, OwnKind::RowIds);
  EXPECT_EQ(ids->payload.size(), 8u + 4 + 2 * 8);
  EXPECT_EQ(events[3].header.type, EventType::DeleteRows);
}

TEST(TransactionBuffer, RollbackLeavesNoTrace) {
  const TableDef table = orders_table();
  TransactionBuffer kept{TransactionBuffer::Context{}}, buffer{TransactionBuffer::Context{}};
  kept.insert_row(table, orders_image(table, 1, "a"));
  kept.end_statement();
  buffer.insert_row(table, orders_image(table, 1, "a"));
  buffer.end_statement();
  const auto mark = buffer.mark();
  buffer.insert_row(table, orders_image(table, 2, "b"));
  buffer.rollback_to(mark);
  kept.finish(5);
  buffer.finish(5);
  EXPECT_EQ(buffer.size(), kept.size());

  TransactionBuffer nothing{TransactionBuffer::Context{}};
  const auto start = nothing.mark();
  nothing.insert_row(table, orders_image(table, 1, "a"));
  nothing.rollback_to(start);
  nothing.finish(6);
  EXPECT_TRUE(nothing.empty());
}

TEST(TransactionBuffer, StatementEndsAreRightAfterARollbackInsideTheStatement) {
  const TableDef table = orders_table();
  TransactionBuffer buffer{TransactionBuffer::Context{}};
  buffer.insert_row(table, orders_image(table, 1, "a"));
  const auto mark = buffer.mark();
  buffer.insert_row(table, orders_image(table, 2, "b"));
  buffer.mark();
  buffer.rollback_to(mark);
  buffer.finish(1);
  const auto events = split(buffer.bytes());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_TRUE(parse_rows_event(events[2], true)->statement_end);
}

std::string all_of(const TransactionBuffer& buffer) {
  std::string bytes(buffer.spool().size(), '\0');
  EXPECT_TRUE(buffer.spool().read(0, bytes).ok());
  for (size_t at = 0; at < bytes.size(); at += event_length(std::string_view(bytes).substr(at)))
    bytes.replace(at, 4, 4, '\0');  // its time
  return bytes;
}

// Statements, savepoints, failed statements and spills at random: where the bytes are makes no difference.
TEST(TransactionBuffer, SpilledEventsAreTheSameAsThoseInMemory) {
  const TableDef table = orders_table();
  for (unsigned seed = 0; seed < 200; ++seed) {
    commitd::testing::RecordingFileSystem fs;
    TransactionBuffer in_memory{TransactionBuffer::Context{}}, spilling{TransactionBuffer::Context{}};
    spilling.may_spill_to({&fs, "d"});
    std::vector<std::pair<TransactionBuffer::Mark, TransactionBuffer::Mark>> marks;
    std::mt19937 random(seed);
    for (uint64_t id = 1; id < 60; ++id) {
      const std::string image = orders_image(table, id, std::string(random() % 3000, 'n'));
      for (TransactionBuffer* buffer : {&in_memory, &spilling}) buffer->insert_row(table, image);
      const unsigned what = random() % 8;
      if (what == 0) marks.emplace_back(in_memory.mark(), spilling.mark());
      if (what == 1) in_memory.end_statement(), spilling.end_statement();
      if (what == 2) {
        ASSERT_TRUE(spilling.spill().ok());
      }
      if (what == 3 && !marks.empty()) {
        marks.resize(1 + random() % marks.size());
        in_memory.rollback_to(marks.back().first);
        spilling.rollback_to(marks.back().second);
      }
    }
    in_memory.finish(1);
    spilling.finish(1);
    ASSERT_FALSE(in_memory.spilled());
    ASSERT_TRUE(all_of(in_memory) == all_of(spilling)) << "seed " << seed;
  }
}

TEST(TransactionBuffer, SpillingFreesMemoryAndLeavesNoNameBehind) {
  const TableDef table = orders_table();
  commitd::testing::RecordingFileSystem fs;
  fs.put_file("d/commitd-cache-1.tmp", "of a server that was killed");
  TransactionBuffer buffer{TransactionBuffer::Context{}};
  buffer.may_spill_to({&fs, "d"});
  for (uint64_t id = 1; id <= 100; ++id) {
    buffer.insert_row(table, orders_image(table, id, std::string(1000, 'n')));
    ASSERT_TRUE(buffer.spill().ok());
    ASSERT_LE(buffer.in_memory(), 20'000u);
  }
  EXPECT_GT(buffer.size(), 100'000u);
  EXPECT_EQ(fs.list("d")->size(), 1u);
  ASSERT_TRUE(remove_temporary_files({&fs, "d"}).ok());
  EXPECT_TRUE(fs.list("d")->empty());
}

TEST(TransactionBuffer, AFullDiskKeepsTheEventsInMemory) {
  const TableDef table = orders_table();
  commitd::testing::RecordingFileSystem fs;
  TransactionBuffer buffer{TransactionBuffer::Context{}}, in_memory{TransactionBuffer::Context{}};
  buffer.may_spill_to({&fs, "d"});
  for (uint64_t id = 1; id <= 50; ++id) {
    const std::string image = orders_image(table, id, std::string(1000, 'n'));
    buffer.insert_row(table, image);
    in_memory.insert_row(table, image);
    if (id == 20) {
      ASSERT_TRUE(buffer.spill().ok());
    }
    if (id == 20) fs.fail_writes_beyond(0);
    if (id == 40) {
      ASSERT_EQ(buffer.spill().error().code, er::kDiskFull);
    }
    if (id == 40) fs.fail_writes_beyond(UINT64_MAX);
  }
  ASSERT_TRUE(buffer.spill().ok());
  buffer.finish(1);
  in_memory.finish(1);
  EXPECT_TRUE(all_of(buffer) == all_of(in_memory));
}

TEST(TransactionScanner, FindsTransactionsOfEveryKind) {
  const TableDef table = orders_table();
  std::string log;
  append_group_open(log, {}, {1, {}, true});
  const auto gtid = [&](uint64_t gno) {
    append_gtid(log, {}, {{server_a(), gno}, 0, static_cast<int64_t>(gno), 0, 1, 1}, true);
  };
  gtid(1);
  log += insert_order(table, 1, "a").bytes();
  gtid(2);
  append_query(log, {}, {}, "shop", "DROP TABLE orders");
  TransactionBuffer epoch{TransactionBuffer::Context{}}, local = insert_order(table, 3, "c");
  epoch.set_epoch(17);
  epoch.finish(3);
  gtid(3);
  log += epoch.bytes();
  append_own(log, {}, OwnKind::LocalOnly, local.bytes());
  ASSERT_TRUE(seal_events(log.data(), log.size(), 0).ok());

  TransactionScanner scanner;
  std::vector<TransactionScanner::Transaction> found;
  uint64_t offset = 0;
  for (const EventView& event : split(log)) {
    auto place = scanner.feed(event, offset);
    ASSERT_TRUE(place.ok());
    if (TransactionScanner::completes(*place)) found.push_back(scanner.transaction());
    offset += event.bytes.size();
  }
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].gtid.gno, 2u);
  EXPECT_EQ(found[1].start, found[0].end);
  EXPECT_EQ(found[2].epoch, 17u);
  EXPECT_TRUE(found[3].gtid.empty());
  EXPECT_EQ(found[3].end, log.size());
  EXPECT_EQ(unwrap_local(std::string_view(log).substr(found[3].start)), local.bytes());
  EXPECT_FALSE(scanner.inside());
}

TEST(TransactionScanner, RefusesEventsThatCannotFollow) {
  std::string xid;
  append_xid(xid, {}, 1);
  sealed(xid);
  TransactionScanner outside;
  EXPECT_FALSE(outside.feed(*parse_event(xid), 0).ok());

  std::string gtid;
  append_gtid(gtid, {}, {{server_a(), 1}, 0, 1, 0, 1, 1}, true);
  sealed(gtid);
  TransactionScanner inside;
  ASSERT_TRUE(inside.feed(*parse_event(gtid), 0).ok());
  EXPECT_FALSE(inside.feed(*parse_event(gtid), gtid.size()).ok());

  // No transaction has number 0: it would be taken for one without a GTID.
  std::string unnumbered;
  append_gtid(unnumbered, {}, {{server_a(), 0}, 0, 1, 0, 1, 1}, true);
  sealed(unnumbered);
  for (const auto of : {TransactionScanner::Of::Log, TransactionScanner::Of::Stream})
    EXPECT_FALSE(TransactionScanner(of).feed(*parse_event(unnumbered), 0).ok());
}

using Place = TransactionScanner::Place;

std::vector<Place> places_of(const std::string& events, TransactionScanner::Of of) {
  TransactionScanner scanner(of);
  std::vector<Place> places;
  for (const EventView& event : split(events)) {
    auto place = scanner.feed(event, 0);
    EXPECT_TRUE(place.ok());
    if (place) places.push_back(*place);
  }
  return places;
}

std::string transaction_of(std::initializer_list<const char*> statements) {
  std::string events;
  append_gtid(events, {}, {{server_a(), 1}, 0, 1, 0, 1, 1}, true);
  for (const char* sql : statements) append_query(events, {}, {}, "shop", sql);
  return events;
}

TEST(TransactionScanner, TheCaseOfLettersSaysNothing) {
  std::string events = transaction_of({"begin", "INSERT INTO orders VALUES (1)", "Commit"});
  events += transaction_of({"BEGIN", "SAVEPOINT a", "ROLLBACK TO a", "rollback"});
  events += transaction_of({"create table commits (id INT)"});
  ASSERT_TRUE(seal_events(events.data(), events.size(), 0).ok());
  const std::vector<Place> expected{Place::First, Place::Inside, Place::Inside, Place::Last,
                                    Place::First, Place::Inside, Place::Inside, Place::Inside,
                                    Place::Last,  Place::First,  Place::Last};
  for (const auto of : {TransactionScanner::Of::Log, TransactionScanner::Of::Stream})
    EXPECT_EQ(places_of(events, of), expected);
}

// A source that stopped in the middle goes on in a new file, or with the transaction's beginning.
TEST(TransactionScanner, AStreamGoesOnBehindHalfATransaction) {
  std::string events = transaction_of({"BEGIN"}), xid;
  append_xid(events, {}, 1);
  const std::string half = transaction_of({"BEGIN"});
  append_xid(xid, {}, 1);
  events = xid + half + events;
  ASSERT_TRUE(seal_events(events.data(), events.size(), 0).ok());
  EXPECT_EQ(
      places_of(events, TransactionScanner::Of::Stream),
      (std::vector{Place::Outside, Place::First, Place::Inside, Place::First, Place::Inside, Place::Last}));
}

}  // namespace
}  // namespace commitd::binlog

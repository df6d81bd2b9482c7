#include "log/log.h"

#include <cstdio>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "base/testing/recording_file_system.h"
#include "binlog/group_builder.h"
#include "binlog/testing/orders.h"

namespace commitd::binlog {
namespace {

using namespace testing;
using commitd::testing::RecordingFileSystem;

// Writes groups as the pipeline does, and remembers what it wrote.
class LogWriter {
 public:
  LogWriter(FileSystem& fs, LogOptions options) : fs_(fs), options_(std::move(options)) {}

  Status open(LogPosition scan_from = {}) {
    log_.reset();
    report = {};
    auto opened = Log::open(fs_, options_, scan_from, &report);
    if (!opened) return std::move(opened).error();
    log_ = std::move(*opened);
    group_ = report.last_group;
    clock_.sequence = report.last_sequence_number;
    return {};
  }

  // One group of `count` transactions; returns where it ends.
  LogPosition write_group(int count, const std::string& note = "note", bool durable_before = true) {
    GroupBuilder builder(log_->end(), {}, clock_, {++group_, acknowledged_, durable_before});
    for (int i = 0; i < count; ++i) {
      TransactionBuffer events = insert_order(table_, ++gno_, note);
      builder.add_local(events, {server_a(), gno_}, 1'700'000'000'000'000);
      written.add(Gtid{server_a(), gno_});
    }
    EXPECT_TRUE(log_->append(builder.take()).ok());
    EXPECT_TRUE(log_->sync().ok());
    return log_->end();
  }

  Status rotate() {
    clock_ = {};
    return log_->rotate(written);
  }

  std::string read_all(size_t chunk_size) {
    std::string all;
    LogPosition at{log_->files()->front().number, 4};
    while (at < log_->end()) {
      auto chunk = log_->read(at, log_->end(), chunk_size);
      if (!chunk.ok() || chunk->bytes.empty()) {
        ADD_FAILURE() << "nothing at " << at.file << ":" << at.offset;
        break;
      }
      all += chunk->bytes;
      at = {chunk->start.file, chunk->start.offset + chunk->bytes.size()};
    }
    return all;
  }

  void give_numbers_again() { gno_ = 0; }
  void number_groups_again() { group_ = 0; }
  void acknowledge(LogPosition position) { acknowledged_ = position; }
  Log& log() { return *log_; }
  void close() { log_.reset(); }
  OpenReport report;
  GtidSet written;

 private:
  FileSystem& fs_;
  const LogOptions options_;
  const TableDef table_ = orders_table();
  std::unique_ptr<Log> log_;
  LogicalClock clock_;
  uint64_t group_ = 0, gno_ = 0;
  LogPosition acknowledged_{1, 4};
};

LogOptions options_in(std::string directory) {
  LogOptions options;
  options.directory = std::move(directory);
  options.server_version = "8.4.0-commitd";
  return options;
}

class LogFiles : public ::testing::Test {
 protected:
  RecordingFileSystem fs_;
  LogWriter writer_{fs_, options_in("d")};
  std::string path(const char* name = "binlog.000001") const { return std::string("d/") + name; }
};

TEST_F(LogFiles, AnEmptyDirectoryGetsItsFirstFile) {
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(fs_.content("d/binlog.index"), "./binlog.000001\n");
  EXPECT_EQ(writer_.log().end().file, 1u);
  EXPECT_EQ(writer_.log().end().offset, fs_.content(path()).size());
  EXPECT_TRUE(writer_.log().previous_gtids(1)->empty());
}

TEST_F(LogFiles, ReopeningFindsWhatWasWritten) {
  ASSERT_TRUE(writer_.open().ok());
  writer_.write_group(3);
  const LogPosition end = writer_.write_group(2);
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.end, end);
  EXPECT_EQ(writer_.report.logged, writer_.written);
  EXPECT_EQ(writer_.report.truncated_bytes, 0u);
  EXPECT_EQ(writer_.report.last_group, 2u);
  EXPECT_EQ(writer_.report.last_sequence_number, 5);
  EXPECT_EQ(writer_.report.acknowledged, (LogPosition{1, 4}));
}

TEST_F(LogFiles, MemoryAndFileGiveTheSameBytes) {
  ASSERT_TRUE(writer_.open().ok());
  for (int i = 0; i < 5; ++i) writer_.write_group(i + 1);
  ASSERT_TRUE(writer_.rotate().ok());
  for (int i = 0; i < 5; ++i) writer_.write_group(i + 1);
  const std::string from_memory = writer_.read_all(1 << 20);
  EXPECT_EQ(from_memory, writer_.read_all(1));
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(from_memory, writer_.read_all(1 << 20));
  EXPECT_EQ(from_memory, writer_.read_all(100));
  EXPECT_EQ(from_memory, fs_.content(path()).substr(4) + fs_.content(path("binlog.000002")).substr(4));
}

TEST_F(LogFiles, ReadersNeverSeeBeyondTheirLimit) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition first = writer_.log().end(), limit = writer_.write_group(2);
  writer_.write_group(2);
  auto chunk = writer_.log().read(first, limit, 1 << 20);
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(chunk->bytes.size(), limit.offset - first.offset);
  EXPECT_TRUE(writer_.log().read(limit, limit, 1 << 20)->bytes.empty());
  auto beginning = writer_.log().read({1, 4}, limit, 1 << 20);
  EXPECT_EQ(beginning->bytes.size(), limit.offset - 4);
}

TEST_F(LogFiles, RotationKeepsWhatReadersByGtidNeed) {
  ASSERT_TRUE(writer_.open().ok());
  writer_.write_group(3);
  const GtidSet before = writer_.written;
  ASSERT_TRUE(writer_.rotate().ok());
  writer_.write_group(2);
  EXPECT_EQ(*writer_.log().previous_gtids(2), before);
  EXPECT_EQ(writer_.log().start_for(before)->file, 2u);
  EXPECT_EQ(writer_.log().start_for({})->file, 1u);
  EXPECT_EQ(*writer_.log().file_number("binlog.000002"), 2u);
  EXPECT_EQ(writer_.log().file_number("binlog.000003").error().code, er::kSourceFatalReadingBinlog);

  ASSERT_TRUE(writer_.open({2, 4}).ok());
  EXPECT_EQ(writer_.report.logged, writer_.written);
  EXPECT_EQ(writer_.report.end.file, 2u);
}

TEST_F(LogFiles, PurgeSaysWhatItDidAndWhyItStopped) {
  ASSERT_TRUE(writer_.open().ok());
  for (int i = 0; i < 4; ++i) {
    writer_.write_group(1);
    ASSERT_TRUE(writer_.rotate().ok());
  }
  auto hold = writer_.log().hold(2);
  auto other = writer_.log().hold(2);
  auto report = writer_.log().purge(4);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->first_kept, 2u);
  EXPECT_EQ(report->wanted, 3u);
  EXPECT_EQ(report->removed, 1u);
  EXPECT_EQ(report->readers, 2u);
  hold.reset();
  other.reset();
  ASSERT_TRUE(fs_.remove(path("binlog.000003")).ok());
  report = writer_.log().purge(99);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->first_kept, 5u);
  EXPECT_EQ(report->removed, 2u);
  EXPECT_EQ(report->missing, std::vector<std::string>{path("binlog.000003")});
  EXPECT_EQ(report->readers, 0u);
}

TEST_F(LogFiles, BytesBetweenPositionsSpanFiles) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition start = writer_.log().end();
  const LogPosition first = writer_.write_group(1);
  EXPECT_EQ(writer_.log().bytes_between(start, first), first.offset - start.offset);
  EXPECT_EQ(writer_.log().bytes_between(first, start), 0u);
  uint64_t expected = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(writer_.rotate().ok());
    expected += fs_.content(path(i == 0 ? "binlog.000001" : "binlog.000002")).size();
  }
  const LogPosition end = writer_.write_group(1);
  EXPECT_EQ(writer_.log().bytes_between(start, end), expected - start.offset + end.offset);
}

TEST_F(LogFiles, GtidsThatWereDeclaredPurgedStaySoAndReadersWithoutThemAreRefused) {
  ASSERT_TRUE(writer_.open().ok());
  const GtidSet added = *GtidSet::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5");
  ASSERT_TRUE(writer_.log().add_purged(added).ok());
  EXPECT_EQ(writer_.log().start_for({}).error().code, er::kSourceFatalReadingBinlog);
  EXPECT_TRUE(writer_.log().start_for(added).ok());
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.purged, added);
  EXPECT_EQ(*writer_.log().purged(), added);
}

TEST_F(LogFiles, AMadeLogOpensBehindThePositionItWasMadeFor) {
  LogOptions options = options_in("d");
  options.initial_gtids = *GtidSet::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5");
  ASSERT_TRUE(fs_.make_directory("d").ok());
  ASSERT_TRUE(create_log(fs_, options, 8).ok());
  ASSERT_TRUE(writer_.open({7, 12345}).ok());
  EXPECT_EQ(writer_.log().end().file, 8u);
  EXPECT_EQ(writer_.report.logged, options.initial_gtids);
  EXPECT_EQ(writer_.report.purged, options.initial_gtids);
}

TEST_F(LogFiles, AFileWithTransactionsIsNotRemovedBecauseTheIndexLostItsLine) {
  ASSERT_TRUE(writer_.open().ok());
  for (int i = 0; i < 2; ++i) {
    writer_.write_group(1);
    ASSERT_TRUE(writer_.rotate().ok());
  }
  writer_.write_group(1);
  writer_.close();
  const std::string index = fs_.content("d/binlog.index");
  for (const char* left : {"./binlog.000001\n", "./binlog.000001\n./binlog.000002\n"}) {
    fs_.put_file("d/binlog.index", left);
    EXPECT_EQ(writer_.open().error().code, er::kErrorOnRead) << left;
  }
  fs_.put_file("d/binlog.index", "./binlog.000002\n./binlog.000003\n");
  EXPECT_EQ(writer_.open({1, 4}).error().code, er::kErrorOnRead) << "the data needs the first one";
  fs_.put_file("d/binlog.index", index);
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.logged, writer_.written);
}

TEST_F(LogFiles, WhatARotationOrAPurgeLeftIsRemoved) {
  ASSERT_TRUE(writer_.open().ok());
  for (int i = 0; i < 2; ++i) {
    writer_.write_group(1);
    ASSERT_TRUE(writer_.rotate().ok());
  }
  writer_.close();
  fs_.put_file("d/binlog.index", "./binlog.000002\n");
  fs_.put_file("d/binlog.000004",
               "\xfe"
               "bi");
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_FALSE(fs_.exists(path("binlog.000001")));
  EXPECT_FALSE(fs_.exists(path("binlog.000004")));
  EXPECT_EQ(fs_.content("d/binlog.index"), "./binlog.000002\n./binlog.000003\n") << "made anew";
  EXPECT_EQ(writer_.report.logged, writer_.written);
}

TEST_F(LogFiles, PurgeSparesHeldFilesAndTheActiveOne) {
  ASSERT_TRUE(writer_.open().ok());
  for (int i = 0; i < 3; ++i) {
    writer_.write_group(1);
    ASSERT_TRUE(writer_.rotate().ok());
  }
  auto hold = writer_.log().hold(2);
  ASSERT_TRUE(writer_.log().purge(4).ok());
  EXPECT_EQ(writer_.log().files()->front().number, 2u);
  hold->move_to(3);
  ASSERT_TRUE(writer_.log().purge(4).ok());
  EXPECT_EQ(writer_.log().files()->front().number, 3u);
  hold.reset();
  ASSERT_TRUE(writer_.log().purge(99).ok());
  EXPECT_EQ(writer_.log().files()->front().number, 4u);
  EXPECT_FALSE(fs_.exists(path("binlog.000003")));
  EXPECT_EQ(writer_.log().start_for({}).error().code, er::kSourceFatalReadingBinlog);

  ASSERT_TRUE(writer_.open({4, 4}).ok());
  EXPECT_EQ(writer_.report.purged.count(), 3u);
  EXPECT_EQ(writer_.report.logged, writer_.written);
}

TEST_F(LogFiles, CutTakesTheTailAndLaterFiles) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition keep = writer_.write_group(2);
  writer_.write_group(2);
  ASSERT_TRUE(writer_.rotate().ok());
  writer_.write_group(2);
  ASSERT_TRUE(writer_.log().cut(keep).ok());
  EXPECT_EQ(writer_.log().end(), keep);
  EXPECT_FALSE(fs_.exists(path("binlog.000002")));
  EXPECT_FALSE(writer_.log().read({2, 4}, {2, 100}, 100).ok());
  const LogPosition after = writer_.write_group(1, "other");
  EXPECT_EQ(writer_.log().read(keep, after, 1 << 20)->bytes, fs_.content(path()).substr(keep.offset));
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.logged.count(), 3u);
}

// Every way the last group can be torn: cut anywhere, or with a damaged byte anywhere.
TEST_F(LogFiles, TornTailsAreCutAtATransactionBoundary) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition good = writer_.write_group(2);
  const LogPosition end = writer_.write_group(2);
  writer_.close();
  const std::string whole = fs_.content(path());
  for (uint64_t at = good.offset; at < end.offset; at += 7) {
    for (const bool damage : {false, true}) {
      RecordingFileSystem copy;
      LogWriter reopened(copy, options_in("d"));
      ASSERT_TRUE(reopened.open().ok());
      reopened.close();
      copy.overwrite(path(), 0, whole);
      auto file = copy.open(path(), FileSystem::Open::ReadWrite);
      if (damage) {
        copy.overwrite(path(), at, std::string(1, static_cast<char>(whole[at] ^ 0x40)));
      } else {
        ASSERT_TRUE((*file)->truncate(at).ok());
      }
      ASSERT_TRUE(reopened.open().ok()) << at << damage;
      EXPECT_GE(reopened.report.end, good);
      EXPECT_LT(reopened.report.end, end);
      EXPECT_GE(reopened.report.logged.count(), 2u);
      EXPECT_LE(reopened.report.logged.count(), 3u);
      EXPECT_EQ(reopened.report.end.offset, copy.content(path()).size());
      EXPECT_EQ(reopened.report.end.offset + reopened.report.truncated_bytes, damage ? whole.size() : at);
    }
  }
}

TEST_F(LogFiles, ZerosBehindTheEndAreATornTail) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition end = writer_.write_group(2);
  fs_.overwrite(path(), end.offset, std::string(5000, '\0'));
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.end, end);
  EXPECT_EQ(fs_.content(path()).size(), end.offset);
}

// Zeros written ahead of the end: an event for whoever reads the file, nothing for recovery.
TEST(PrefilledLog, IsReadableWhileItGrowsAndEndsWithItsLastTransaction) {
  RecordingFileSystem fs;
  LogOptions options = options_in("d");
  options.prefill_bytes = 2000;
  LogWriter writer(fs, options);
  ASSERT_TRUE(writer.open().ok());
  LogPosition end;
  for (int i = 0; i < 9; ++i) {
    end = writer.write_group(2);
    const std::string content = fs.content("d/binlog.000001");
    ASSERT_GE(content.size(), end.offset + kHeaderLength);
    const auto filler = parse_event(std::string_view(content).substr(end.offset));
    ASSERT_TRUE(filler.ok());
    EXPECT_EQ(filler->header.type, EventType::Ignorable);
    EXPECT_EQ(filler->bytes.size(), content.size() - end.offset);
    EXPECT_EQ(content.find_first_not_of('\0', end.offset + kHeaderLength), std::string::npos);
  }
  LogWriter reopened(fs, options);  // as after a crash
  ASSERT_TRUE(reopened.open().ok());
  EXPECT_EQ(reopened.report.end, end);
  EXPECT_EQ(reopened.report.truncated_bytes, 0u);
  EXPECT_EQ(reopened.report.logged.count(), 18u);
  reopened.close();
  EXPECT_EQ(fs.content("d/binlog.000001").size(), end.offset);
}

TEST(PrefilledLog, AFinishedFileHasNoZerosBehindItsRotateEvent) {
  RecordingFileSystem fs;
  LogOptions options = options_in("d");
  options.prefill_bytes = 2000;
  LogWriter writer(fs, options);
  ASSERT_TRUE(writer.open().ok());
  const LogPosition end = writer.write_group(2);
  ASSERT_TRUE(writer.log().rotate(GtidSet()).ok());
  const std::string content = fs.content("d/binlog.000001");
  const auto rotate = parse_event(std::string_view(content).substr(end.offset));
  ASSERT_TRUE(rotate.ok());
  EXPECT_EQ(rotate->header.type, EventType::Rotate);
  EXPECT_EQ(rotate->bytes.size(), content.size() - end.offset);
}

TEST_F(LogFiles, DamageThatALaterGroupFollowsIsCorruptionAndChangesNothing) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition start = writer_.log().end();
  const LogPosition end = writer_.write_group(2);
  writer_.write_group(2);
  writer_.close();
  for (uint64_t at = start.offset; at < end.offset; at += 11) {
    const std::string before = fs_.content(path());
    const std::string flipped(1, static_cast<char>(before[at] ^ 0x01));
    fs_.overwrite(path(), at, flipped);
    auto opened = writer_.open();
    ASSERT_FALSE(opened.ok()) << at;
    EXPECT_NE(opened.error().message.find("binlog.000001"), std::string::npos);
    EXPECT_EQ(fs_.content(path()).size(), before.size());
    fs_.overwrite(path(), 0, before);
  }
  EXPECT_TRUE(writer_.open().ok());
}

// What is looked through is larger than what is read of it at a time, and the group stands across two reads.
TEST_F(LogFiles, ALaterGroupIsFoundFarBehindTheDamage) {
  constexpr uint64_t kFar = 2 << 20;
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition damaged = writer_.log().end();
  const uint64_t overhead = writer_.write_group(1, "").offset - damaged.offset;
  writer_.close();
  for (uint64_t more = 0; more <= overhead; more += 9) {
    RecordingFileSystem fs;
    LogWriter writer(fs, options_in("d"));
    ASSERT_TRUE(writer.open().ok());
    writer.write_group(1, std::string(kFar - 2 * overhead + more, 'n'));
    writer.write_group(1);
    writer.close();
    EXPECT_TRUE(LogWriter(fs, options_in("d")).open().ok());
    fs.overwrite(path(), damaged.offset + 10, "damage");
    ASSERT_FALSE(writer.open().ok()) << more;
  }
}

TEST_F(LogFiles, WithoutSyncALaterGroupProvesNothing) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition good = writer_.write_group(2);
  writer_.write_group(1);
  writer_.write_group(1, "note", false);
  writer_.close();
  fs_.overwrite(path(), good.offset + 30, "damage");
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.end, good);
}

TEST_F(LogFiles, ACopyOfALogInsideATornTransactionIsNoLaterGroup) {
  ASSERT_TRUE(writer_.open().ok());
  writer_.write_group(1);
  const std::string copied = fs_.content(path()).substr(writer_.report.end.offset, 150);
  const LogPosition good = writer_.log().end();
  writer_.write_group(1, copied);
  writer_.close();
  fs_.overwrite(path(), good.offset + 80, "damage");
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.end, good);
}

TEST_F(LogFiles, DamageInAnEarlierFileIsCorruption) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition at = writer_.log().end();
  writer_.write_group(1);
  ASSERT_TRUE(writer_.rotate().ok());
  writer_.close();
  fs_.overwrite(path(), at.offset + 40, "damage");
  EXPECT_FALSE(writer_.open().ok());
  EXPECT_TRUE(writer_.open({2, 4}).ok()) << "files before the engine's position are not read";
}

TEST_F(LogFiles, OneGtidForTwoTransactionsIsCorruption) {
  for (const bool in_two_files : {false, true}) {
    RecordingFileSystem fs;
    LogWriter writer(fs, options_in("d"));
    ASSERT_TRUE(writer.open().ok());
    writer.write_group(2);
    if (in_two_files) {
      ASSERT_TRUE(writer.rotate().ok());
    }
    writer.give_numbers_again();
    writer.write_group(1);
    writer.close();
    const auto opened = writer.open();
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().message.find(":1 to two transactions"), std::string::npos)
        << opened.error().message;
  }
}

TEST_F(LogFiles, AFileThatDoesNotGoOnWhereTheOneInFrontEndsIsCorruption) {
  ASSERT_TRUE(writer_.open().ok());
  writer_.write_group(2);
  writer_.written = {};  // as a file of another server, or of a copy, has it
  ASSERT_TRUE(writer_.rotate().ok());
  writer_.write_group(1);
  const auto opened = writer_.open();
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("binlog.000002' does not go on"), std::string::npos)
      << opened.error().message;
  EXPECT_NE(opened.error().message.find(":1-2"), std::string::npos) << opened.error().message;
  EXPECT_TRUE(writer_.open({2, 4}).ok()) << "what is not read is not judged";
}

TEST_F(LogFiles, AGroupThatDoesNotFollowTheOneInFrontIsCorruption) {
  for (const bool by_number : {false, true}) {
    RecordingFileSystem fs;
    LogWriter writer(fs, options_in("d"));
    ASSERT_TRUE(writer.open().ok());
    const LogPosition first = writer.write_group(1);
    if (by_number) {
      writer.number_groups_again();
    } else {
      writer.acknowledge({first.file, first.offset + 1'000'000});
    }
    writer.write_group(1);
    writer.close();
    const auto opened = writer.open();
    ASSERT_FALSE(opened.ok());
    const std::string where = fmt::format("the commit group at offset {} ", first.offset);
    EXPECT_NE(opened.error().message.find(where), std::string::npos) << opened.error().message;
  }
}

TEST_F(LogFiles, AnEventFromAnotherPlaceIsCorruption) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition first = writer_.write_group(1);
  writer_.write_group(1);
  const std::string whole = fs_.content(path());
  writer_.close();
  // The first group is gone: every checksum is right, and every event is where another one was.
  const size_t head = whole.size() - 2 * (whole.size() - first.offset);
  fs_.put_file(path(), whole.substr(0, head) + whole.substr(first.offset));
  const auto opened = writer_.open();
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find(fmt::format("the event at offset {} ", head)), std::string::npos)
      << opened.error().message;
}

TEST_F(LogFiles, ALogThatIsShorterThanTheDataIsRefused) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition end = writer_.write_group(1);
  EXPECT_FALSE(writer_.open({end.file, end.offset + 1}).ok());
  EXPECT_FALSE(writer_.open({end.file + 1, 4}).ok());
  RecordingFileSystem empty;
  LogWriter lost(empty, options_in("d"));
  EXPECT_FALSE(lost.open(end).ok()) << "data without its log";
}

TEST_F(LogFiles, ACloneStartsItsLogBehindItsData) {
  LogOptions options = options_in("d");
  options.initial_gtids.add_interval(server_b(), 1, 100);
  LogWriter clone(fs_, options);
  ASSERT_TRUE(clone.open({7, 1234}).ok());
  EXPECT_EQ(clone.report.end.file, 8u);
  EXPECT_EQ(clone.report.purged, options.initial_gtids);
  clone.close();
  ASSERT_TRUE(clone.open({7, 1234}).ok());
  EXPECT_EQ(clone.report.logged, options.initial_gtids);
}

TEST_F(LogFiles, AFullDiskLeavesTheFileAsItWas) {
  ASSERT_TRUE(writer_.open().ok());
  const LogPosition end = writer_.write_group(1);
  fs_.fail_writes_beyond(end.offset);
  auto bytes = std::make_shared<std::string>(2000, 'x');
  auto appended = writer_.log().append(bytes);
  ASSERT_FALSE(appended.ok());
  EXPECT_EQ(appended.error().code, er::kDiskFull);
  EXPECT_TRUE(writer_.log().usable());
  EXPECT_EQ(fs_.content(path()).size(), end.offset);
  EXPECT_FALSE(writer_.rotate().ok());
  EXPECT_EQ(writer_.log().end(), end) << "the old file goes on";
  fs_.fail_writes_beyond(UINT64_MAX);
  writer_.write_group(1);
  ASSERT_TRUE(writer_.open().ok());
  EXPECT_EQ(writer_.report.logged, writer_.written);
}

// The judge of our format is a reader that is not ours.
TEST(LogOnDisk, MariadbBinlogDecodesIt) {
  if (std::system("command -v mariadb-binlog >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "mariadb-binlog is not installed";
  std::string pattern = (std::filesystem::temp_directory_path() / "commitd-log-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  LogWriter writer(FileSystem::posix(), options_in(pattern));
  ASSERT_TRUE(writer.open().ok());
  writer.write_group(3, "written by commitd");
  ASSERT_TRUE(writer.rotate().ok());
  writer.write_group(1, "written by commitd");
  EXPECT_EQ(std::filesystem::file_size(pattern + "/binlog.000002"), writer.log().end().offset)
      << "no zeros behind the end";

  for (const char* name : {"binlog.000001", "binlog.000002"}) {
    const std::string command =
        "mariadb-binlog -vv --verify-binlog-checksum " + pattern + "/" + name + " 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    char buffer[4096];
    while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
    EXPECT_EQ(::pclose(pipe), 0) << output;
    EXPECT_EQ(output.find("ERROR"), std::string::npos) << output;
    EXPECT_NE(output.find("### INSERT INTO `shop`.`orders`"), std::string::npos) << output;
    EXPECT_NE(output.find("MySQL Gtid"), std::string::npos) << output;
    EXPECT_NE(output.find("MySQL Previous_gtids"), std::string::npos) << output;
    EXPECT_NE(output.find("'written by commitd'"), std::string::npos) << output;
  }
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace commitd::binlog

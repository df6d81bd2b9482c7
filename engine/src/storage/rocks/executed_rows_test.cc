// gtid_executed beside the data: what a commit writes of it, what a start finds, and data of format 1.
#include <algorithm>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "base/packed_int.h"
#include "observe/metrics.h"
#include "storage/engine.h"
#include "storage/executed_row.h"
#include "storage/gtid_storage.h"
#include "storage/rocks/commit_point_codec.h"

namespace commitd::storage {
namespace {

const Uuid kServer = *Uuid::parse("11111111-1111-1111-1111-111111111111");
const Uuid kOther = *Uuid::parse("22222222-2222-2222-2222-222222222222");

class ExecutedRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(directory_);
    open();
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }
  void open() {
    engine_.reset();
    auto opened =
        open_rocks({.directory = directory_, .block_cache_bytes = 8 << 20, .write_buffer_bytes = 64 << 20});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    engine_ = std::move(*opened);
    gtid_storage_of(*engine_)->keep_gtids_by(settings_);
  }
  // With as many transactions as there are GTIDs, or fewer.
  void commit(CommitStep step, size_t most_transactions = 1) {
    step.position = {1, ++offset_};
    WriteSet writes;
    writes.put("k", "v");
    const std::vector<WriteSet*> batch(std::max<size_t>(1, std::min(step.added.count(), most_transactions)),
                                       &writes);
    ASSERT_TRUE(engine_->commit_ordered(batch, step).ok());
  }
  void commit(const Gtid& gtid) {
    CommitStep step;
    step.added.add(gtid);
    commit(std::move(step));
  }
  size_t rows() {
    size_t rows = 0;
    EXPECT_TRUE(for_each_executed_row(*engine_, [&rows](const GtidInterval&) { ++rows; }).ok());
    EXPECT_EQ(observe::gauge("commitd_gtid_executed_rows", "").value(), static_cast<double>(rows));
    return rows;
  }
  // All rows together, each of which stands beside the others.
  GtidSet set_of_rows() {
    GtidSet set;
    uint64_t count = 0;
    const Status all = for_each_executed_row(*engine_, [&](const GtidInterval& row) {
      set.add_interval(row.sid, row.start, row.end);
      count += row.end - row.start;
    });
    EXPECT_TRUE(all.ok());
    EXPECT_EQ(set.count(), count);
    return set;
  }
  static uint64_t count_of(const char* name) { return observe::counter(name, "").value(); }
  static GtidSet with_gaps(uint64_t gaps) {
    GtidSet set;
    for (uint64_t i = 0; i <= gaps; ++i) set.add({kServer, 2 * i + 1});
    return set;
  }
  void commit_gaps(uint64_t gaps) {
    CommitStep step;
    step.added = with_gaps(gaps);
    commit(std::move(step));
  }
  static uint64_t written() { return observe::counter("commitd_engine_written_bytes_total", "").value(); }
  template <class Work>
  static uint64_t bytes_of(const Work& work) {
    const uint64_t before = written();
    work();
    return written() - before;
  }

  const std::string directory_ =
      std::filesystem::temp_directory_path() / ("executed-rows-" + std::to_string(::getpid()));
  const std::shared_ptr<GtidSettings> settings_ = std::make_shared<GtidSettings>();
  std::unique_ptr<Engine> engine_;
  uint64_t offset_ = 0;
};

TEST_F(ExecutedRowsTest, WhatACommitWritesDoesNotDependOnTheGaps) {
  uint64_t next = 2'000'001;
  std::vector<uint64_t> next_in_order, new_gap, fills_gap;
  for (const uint64_t gaps : {10, 100'000}) {
    commit_gaps(gaps);
    new_gap.push_back(bytes_of([&] { commit(Gtid{kServer, next}); }));
    next_in_order.push_back(bytes_of([&] { commit(Gtid{kServer, next + 1}); }));
    fills_gap.push_back(bytes_of([&] { commit(Gtid{kServer, gaps}); }));
    next += 10;
  }
  EXPECT_EQ(next_in_order[0], next_in_order[1]);
  EXPECT_EQ(new_gap[0], new_gap[1]);
  EXPECT_EQ(fills_gap[0], fills_gap[1]);
  EXPECT_LE(fills_gap[1], 200u) << "the row, the position, one interval more and one less";
}

TEST_F(ExecutedRowsTest, AStartFindsWhatWasCommitted) {
  std::mt19937 random(7);
  GtidSet expected;
  for (int step = 0; step < 300; ++step) {
    CommitStep next;
    for (uint64_t i = random() % 4; i > 0; --i) {
      const uint64_t start = 1 + random() % 100;
      next.added.add_interval(random() % 2 == 0 ? kServer : kOther, start, start + random() % 4);
    }
    next.replaces = step == 150;
    if (next.replaces) expected = {};
    expected.add(next.added);
    commit(std::move(next));
    EXPECT_EQ(engine_->commit_point().executed, expected);
    ASSERT_EQ(rows(), expected.interval_count());
    if (step % 30 != 0) continue;
    open();
    ASSERT_EQ(engine_->commit_point().executed, expected) << step;
    ASSERT_EQ(engine_->replay_position(), (LogPosition{1, offset_}));
  }
  for (uint64_t gno = 1; gno < 110; ++gno)
    EXPECT_EQ(engine_->has_executed({kServer, gno}), expected.contains(Gtid{kServer, gno})) << gno;
}

TEST_F(ExecutedRowsTest, ABackupHasThemToo) {
  commit_gaps(5);
  const std::string copy = directory_ + "-copy";
  std::filesystem::remove_all(copy);
  const auto point = engine_->backup_to(copy);
  ASSERT_TRUE(point.ok());
  EXPECT_EQ(point->executed, with_gaps(5));
  std::filesystem::remove_all(copy);
}

TEST_F(ExecutedRowsTest, UncompressedEachTransactionHasARowThatAStartReads) {
  const auto read_by_a_start = [this] {
    const uint64_t before = count_of("commitd_gtid_executed_rows_read_total");
    EXPECT_TRUE(engine_->checkpoint().ok());
    open();
    return count_of("commitd_gtid_executed_rows_read_total") - before;
  };
  for (uint64_t gno = 1; gno <= 50; ++gno) commit(Gtid{kServer, gno});
  EXPECT_EQ(read_by_a_start(), 1u);
  settings_->compression_period = 0;
  CommitStep group;
  group.added.add_interval(kServer, 51, 101);
  commit(std::move(group), 50);
  EXPECT_EQ(rows(), 51u);
  EXPECT_EQ(read_by_a_start(), 51u);
  commit(Gtid{kServer, 51});  // nothing new
  EXPECT_EQ(rows(), 51u);
  EXPECT_EQ(engine_->commit_point().executed.interval_count(), 1u);
  EXPECT_EQ(set_of_rows(), engine_->commit_point().executed);
}

TEST_F(ExecutedRowsTest, WhatNeverWasATransactionHereIsNotCutUp) {
  settings_->compression_period = 0;
  CommitStep purged;
  purged.added.add_interval(kServer, 1, 1'000'000'000);
  commit(std::move(purged));
  EXPECT_EQ(rows(), 1u);
}

TEST_F(ExecutedRowsTest, TheFirstCommitWithAPeriodCompresses) {
  settings_->compression_period = 0;
  for (uint64_t gno = 1; gno <= 50; ++gno) commit(Gtid{kServer, gno + gno / 26});  // a gap in the middle
  const uint64_t before = count_of("commitd_gtid_executed_compressions_total");
  settings_->compression_period = 1000;
  ASSERT_TRUE(engine_->checkpoint().ok());
  open();
  EXPECT_EQ(rows(), 50u);
  commit(Gtid{kOther, 1});
  EXPECT_EQ(rows(), 3u);
  commit(Gtid{kOther, 2});
  EXPECT_EQ(count_of("commitd_gtid_executed_compressions_total") - before, 1u);
  EXPECT_EQ(set_of_rows(), engine_->commit_point().executed);
}

TEST_F(ExecutedRowsTest, SwitchedAtAnyMomentTheRowsAreTheSet) {
  std::mt19937 random(11);
  GtidSet expected;
  for (int step = 0; step < 400; ++step) {
    settings_->compression_period = random() % 5 == 0 ? 1000 : 0;
    CommitStep next;
    for (uint64_t i = random() % 4; i > 0; --i) {
      const uint64_t start = 1 + random() % 300;
      next.added.add_interval(random() % 2 == 0 ? kServer : kOther, start, start + random() % 4);
    }
    next.replaces = step == 200;
    if (next.replaces) expected = {};
    expected.add(next.added);
    commit(std::move(next), 1 + random() % 12);
    ASSERT_EQ(set_of_rows(), expected) << step;
    rows();
    if (step % 40 != 0) continue;
    open();
    ASSERT_EQ(engine_->commit_point().executed, expected) << step;
  }
}

// As format 1 had it: all of gtid_executed behind position and epoch.
class EarlierFormatTest : public ExecutedRowsTest {
 protected:
  void make_earlier(const GtidSet& executed) {
    engine_.reset();
    EnginePlace place;
    place.position = {1, 77};
    place.epoch = 5;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(rocksdb::Options(), directory_, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    std::string begin, end;
    append_big_endian(begin, kExecutedIndexId, 4);
    append_big_endian(end, kExecutedIndexId + 1, 4);
    rocksdb::WriteBatch batch;
    batch.DeleteRange(begin, end);
    batch.Put(format_version_key(), "1");
    batch.Put(commit_point_key(), encode_place(place) + executed.encode());
    ASSERT_TRUE(db->Write(rocksdb::WriteOptions(), &batch).ok());
    ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
  }
  std::string stored(const std::string& key) {
    std::string value;
    rocksdb::DB* opened = nullptr;
    EXPECT_TRUE(rocksdb::DB::OpenForReadOnly(rocksdb::Options(), directory_, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    EXPECT_TRUE(db->Get(rocksdb::ReadOptions(), key, &value).ok());
    return value;
  }
};

TEST_F(EarlierFormatTest, ItIsBroughtForward) {
  commit_gaps(9);  // rows that are not to be taken for those of the earlier format
  make_earlier(with_gaps(3));
  open();
  CommitPoint point = engine_->commit_point();
  EXPECT_EQ(point.executed, with_gaps(3));
  EXPECT_EQ(point.position, (LogPosition{1, 77}));
  EXPECT_EQ(point.epoch, 5u);
  commit(Gtid{kServer, 2});
  ASSERT_TRUE(engine_->checkpoint().ok());
  open();
  GtidSet expected = with_gaps(3);
  expected.add({kServer, 2});
  EXPECT_EQ(engine_->commit_point().executed, expected);
  engine_.reset();
  EXPECT_EQ(stored(format_version_key()), "2");
  EXPECT_EQ(stored(commit_point_key()).size(), encode_place({}).size());
}

TEST_F(EarlierFormatTest, AnEmptySetTooAndOnlyOnce) {
  make_earlier({});
  open();
  EXPECT_TRUE(engine_->commit_point().executed.empty());
  commit(Gtid{kServer, 1});
  ASSERT_TRUE(engine_->checkpoint().ok());
  open();
  EXPECT_EQ(engine_->commit_point().executed, with_gaps(0));
}

// A start that crashes before anything of it is durable leaves the earlier format.
TEST_F(EarlierFormatTest, ACrashBehindTheStartLeavesItAsItWas) {
  make_earlier(with_gaps(3));
  open();
  const std::string copy = directory_ + "-copy";
  std::filesystem::remove_all(copy);
  std::filesystem::copy(directory_, copy, std::filesystem::copy_options::recursive);
  engine_.reset();
  std::filesystem::remove_all(directory_);
  std::filesystem::rename(copy, directory_);
  EXPECT_EQ(stored(format_version_key()), "1");
  open();
  EXPECT_EQ(engine_->commit_point().executed, with_gaps(3));
}

}  // namespace
}  // namespace commitd::storage

#include "storage/rocks/history.h"

#include <chrono>
#include <filesystem>
#include <span>
#include <thread>

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/packed_int.h"
#include "observe/metrics.h"
#include "storage/engine.h"
#include "storage/older_version.h"

namespace commitd::storage {
namespace {

constexpr uint32_t kIndex = 2000, kOther = 2001;

std::string key(uint32_t index, uint32_t row) {
  std::string bytes;
  append_big_endian(bytes, index, 4);
  append_big_endian(bytes, row, 4);
  return bytes;
}

// Bytes that do not compress.
std::string noise(uint32_t seed, size_t length) {
  std::string bytes;
  for (uint64_t state = seed + 1; bytes.size() < length;
       state = state * 6364136223846793005u + 1442695040888963407u)
    append_big_endian(bytes, state >> 16, 4);
  return bytes;
}

double metric(const std::string& name) {
  for (const auto& [known, value] : observe::snapshot())
    if (known == name) return value;
  return 0;
}

class HistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("history-test-" + std::to_string(::getpid()) + "-" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    auto opened = open_rocks(
        {.directory = directory_ / "data", .block_cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20});
    ASSERT_TRUE(opened.ok());
    engine_ = std::move(*opened);
    purging_ = purging_of(*engine_);
    ASSERT_NE(purging_, nullptr);
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }

  void commit(WriteSet& writes) {
    WriteSet* const list[] = {&writes};
    CommitStep step;
    step.position = {1, offset_ += 10};
    const Status taken = engine_->commit_ordered(list, step);
    ASSERT_TRUE(taken.ok()) << taken.error().message;
  }
  void put(uint32_t index, uint32_t rows, uint64_t mark, uint32_t seed) {
    WriteSet writes;
    for (uint32_t row = 0; row < rows; ++row)
      writes.put(key(index, row), noise(seed + row, 200), WriteSet::RowId::Final, mark);
    commit(writes);
  }
  void insert(uint32_t index, uint32_t rows) { put(index, rows, 0, 0); }
  void update(uint32_t index, uint32_t rows, uint32_t seed = 1000000) {
    put(index, rows, kHasOlderVersion, seed);
  }
  void erase(uint32_t index, uint32_t rows) {
    WriteSet writes;
    for (uint32_t row = 0; row < rows; ++row) writes.erase(key(index, row));
    commit(writes);
  }

  uint64_t of(uint32_t index) {
    for (const auto& known : purging_->garbage())
      if (known.index_id == index) return known.entries;
    return 0;
  }
  // All slices of a round.
  std::vector<Purging::Slice> purge(uint64_t pages) {
    std::vector<Purging::Slice> slices;
    do {
      std::this_thread::yield();  // to RocksDB's own merges
      auto slice = purging_->purge(pages);
      EXPECT_TRUE(slice.ok()) << slice.error().message;
      if (!slice.ok()) break;
      slices.push_back(*slice);
    } while (!slices.back().last);
    return slices;
  }
  size_t rows_in(uint32_t index) {
    auto rows = engine_->iterate(nullptr, key(index, 0), key(index + 1, 0));
    size_t count = 0;
    for (rows->seek(key(index, 0)); rows->valid(); rows->next()) ++count;
    return count;
  }

  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
  Purging* purging_ = nullptr;
  uint64_t offset_ = 0;
};

TEST_F(HistoryTest, IsTheVersionsThatWereOverwrittenAndTheTombstonesByIndex) {
  insert(kIndex, 10);
  EXPECT_EQ(purging_->history_length(), 0u);
  update(kIndex, 10);
  update(kIndex, 3);
  insert(kOther, 5);
  erase(kOther, 2);
  EXPECT_EQ(of(kIndex), 13u);
  EXPECT_EQ(of(kOther), 4u) << "a version and a tombstone each";
  EXPECT_EQ(purging_->history_length(), 17u);
}

TEST_F(HistoryTest, WhatOneTransactionInsertsAndChangesLeavesNothingBehind) {
  WriteSet writes;
  writes.put(key(kIndex, 1), "a");
  writes.put(key(kIndex, 1), "b", WriteSet::RowId::Final, kHasOlderVersion);
  commit(writes);
  EXPECT_EQ(purging_->history_length(), 0u);
  WriteSet changes;
  changes.erase(key(kIndex, 1));
  changes.put(key(kIndex, 1), "c");
  commit(changes);
  EXPECT_EQ(purging_->history_length(), 1u) << "erased and put again is overwritten";
}

TEST_F(HistoryTest, AFlushTakesAwayWhatItDrops) {
  insert(kIndex, 100);
  update(kIndex, 100);
  update(kIndex, 50);
  ASSERT_EQ(purging_->history_length(), 150u);
  ASSERT_TRUE(engine_->checkpoint().ok());
  EXPECT_EQ(purging_->history_length(), 0u);
  erase(kIndex, 10);
  ASSERT_TRUE(engine_->checkpoint().ok());
  EXPECT_EQ(purging_->history_length(), 20u) << "the versions are in the file below";
}

TEST_F(HistoryTest, ASnapshotKeepsVersionsInTheHistory) {
  insert(kIndex, 100);
  const auto snapshot = engine_->snapshot();
  update(kIndex, 100);
  purge(0);
  EXPECT_EQ(purging_->history_length(), 100u);
}

TEST_F(HistoryTest, OneRoundInOneGoLeavesNothing) {
  insert(kIndex, 2000);
  ASSERT_TRUE(engine_->checkpoint().ok());
  update(kIndex, 2000);
  erase(kIndex, 500);
  ASSERT_TRUE(engine_->checkpoint().ok());
  ASSERT_EQ(purging_->history_length(), 3000u - 500u) << "of the erased ones the flush dropped a version";
  const auto slices = purge(0);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_GT(slices[0].pages, 20u);
  EXPECT_EQ(purging_->history_length(), 0u);
  EXPECT_EQ(rows_in(kIndex), 1500u);
}

TEST_F(HistoryTest, SlicesAreSmallAndLeaveNothingEither) {
  for (uint32_t part = 0; part < 4; ++part) insert(kIndex + part * 2, 10000);
  purge(0);
  for (uint32_t part = 0; part < 4; ++part) update(kIndex + part * 2, 10000);
  const auto slices = purge(100);
  EXPECT_GT(slices.size(), 8u);
  uint64_t most = 0;  // behind the flush, and the cutting of what came from it
  for (const auto& slice : std::span(slices).subspan(2)) most = std::max(most, slice.pages);
  EXPECT_LE(most, 100u + 2 * (1 << 20) / Purging::kPageBytes) << "and a file of each level at most";
  // Of merges of its own RocksDB tells a moment after their files are there.
  for (int moments = 0; purging_->history_length() > 0 && moments < 10000; ++moments)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(purging_->history_length(), 0u);
  for (uint32_t part = 0; part < 4; ++part) EXPECT_EQ(rows_in(kIndex + part * 2), 10000u);
  EXPECT_GT(purge(0).front().pages, 2 * most) << "what one go takes";
}

TEST_F(HistoryTest, ScansCountTheGarbageThatTheyStepOverWhileTheHistoryIsLong) {
  insert(kIndex, 100);
  erase(kIndex, 100);
  const auto skipped = [] { return metric("commitd_scan_garbage_skipped_total"); };
  double before = skipped();
  EXPECT_EQ(rows_in(kIndex), 0u);
  EXPECT_EQ(skipped(), before);
  purging_->watch_scans_from(200);
  EXPECT_EQ(rows_in(kIndex), 0u);
  EXPECT_GE(skipped() - before, 200);
  purge(0);
  before = skipped();
  EXPECT_EQ(rows_in(kIndex), 0u);
  EXPECT_EQ(skipped(), before);
}

TEST_F(HistoryTest, NothingIsPurgedAnyMoreOnceItIsStopped) {
  insert(kIndex, 100);
  update(kIndex, 100);
  purging_->stop_purging();
  const auto slices = purge(0);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].pages, 0u);
  EXPECT_EQ(purging_->history_length(), 100u);
}

}  // namespace
}  // namespace commitd::storage

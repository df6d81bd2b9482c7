#include "storage/engine.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "base/packed_int.h"
#include "base/testing/recording_file_system.h"
#include "storage/rocks/commit_in_parts.h"
#include "storage/rocks/copy_gate.h"

namespace commitd::storage {
namespace {

class RocksEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("rocks-test-" + std::to_string(::getpid()) + "-" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    open();
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }

  void open() { engine_ = open_at(data()); }
  static std::unique_ptr<Engine> open_at(const std::string& directory, uint64_t block_cache_bytes = 8 << 20) {
    auto opened = open_rocks(
        {.directory = directory, .block_cache_bytes = block_cache_bytes, .write_buffer_bytes = 1 << 20});
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    return std::move(*opened);
  }
  std::string data() const { return directory_ / "data"; }
  static int table_files(const std::string& directory) {
    const auto is_table = [](const auto& entry) { return entry.path().extension() == ".sst"; };
    return static_cast<int>(std::ranges::count_if(std::filesystem::directory_iterator(directory), is_table));
  }
  std::string path(const char* name) const { return directory_ / name; }

  // RocksDB deletes files that it does not need any more while it runs.
  void copy_data_to(const std::string& directory) {
    for (std::error_code missing{std::make_error_code(std::errc::no_such_file_or_directory)}; missing;) {
      std::filesystem::remove_all(directory);
      std::filesystem::copy(data(), directory, std::filesystem::copy_options::recursive, missing);
    }
  }

  void commit(WriteSet& writes, uint64_t offset) {
    WriteSet* const list[] = {&writes};
    commit_all(list, offset);
  }
  void commit_all(std::span<WriteSet* const> list, uint64_t offset) {
    CommitStep point;
    point.position = {1, offset};
    point.epoch = 3;
    point.added = *GtidSet::parse("11111111-1111-1111-1111-111111111111:1-" + std::to_string(offset));
    ASSERT_TRUE(engine_->commit_ordered(list, point).ok());
  }
  void put(std::string key, std::string value, uint64_t offset) {
    WriteSet writes;
    writes.put(std::move(key), std::move(value));
    commit(writes, offset);
  }
  static std::string get(Engine& engine, std::string_view key, const Snapshot* snapshot = nullptr) {
    std::string value;
    const auto found = engine.get(snapshot, key, value);
    EXPECT_TRUE(found.ok());
    return *found ? value : "(none)";
  }
  std::string get(std::string_view key, const Snapshot* snapshot = nullptr) {
    return get(*engine_, key, snapshot);
  }

  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(RocksEngineTest, SnapshotsKeepShowingWhatWasCommittedWhenTheyWereTaken) {
  put("k", "1", 10);
  const SnapshotPtr snapshot = engine_->snapshot();
  auto iterator = engine_->iterate(snapshot, "a", "z");
  put("k", "2", 20);
  EXPECT_EQ(get("k", snapshot.get()), "1");
  EXPECT_EQ(get("k"), "2");
  iterator->seek("a");
  ASSERT_TRUE(iterator->valid());
  EXPECT_EQ(iterator->value(), "1");
}

TEST_F(RocksEngineTest, ErasedRangesGoBeforeTheOtherWritesOfTheirTransaction) {
  put("t1", "old", 10);
  put("t2", "old", 20);
  put("u1", "other table", 30);
  WriteSet writes;
  writes.put("t2", "new");
  writes.erase_range("t", "u");
  commit(writes, 40);
  EXPECT_EQ(get("t1"), "(none)");
  EXPECT_EQ(get("t2"), "new");
  EXPECT_EQ(get("u1"), "other table");
}

TEST_F(RocksEngineTest, ACleanCloseKeepsEverything) {
  put("k", "1", 10);
  engine_.reset();
  open();
  EXPECT_EQ(get("k"), "1");
  const CommitPoint point = engine_->commit_point();
  EXPECT_EQ(point.position, (LogPosition{1, 10}));
  EXPECT_EQ(point.epoch, 3u);
  EXPECT_EQ(point.executed.to_string(), "11111111-1111-1111-1111-111111111111:1-10");
}

TEST_F(RocksEngineTest, OnlyACheckpointMovesTheFlushedPosition) {
  put("k", "1", 10);
  EXPECT_EQ(engine_->flushed_position(), LogPosition{});
  ASSERT_TRUE(engine_->checkpoint().ok());
  EXPECT_EQ(engine_->flushed_position(), (LogPosition{1, 10}));
  put("k", "2", 20);
  EXPECT_EQ(engine_->flushed_position(), (LogPosition{1, 10}));
}

std::string numbered_key(int number) {
  constexpr int kSevenDigits = 1'000'000;
  return "k" + std::to_string(kSevenDigits + number);
}

// From files, by this thread.
uint64_t bytes_read() {
  std::ifstream counts("/proc/thread-self/io");
  std::string name;
  uint64_t bytes = 0;
  counts >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

// Beside the row's block the few parts of index and filter that are about it: not all of a file's filter.
TEST_F(RocksEngineTest, WhatAReadTakesFromTheFilesDoesNotGrowWithThem) {
  constexpr int kFiles = 4, kKeys = 48'000;  // so many files in level 0 are merged
  constexpr uint64_t kCacheBytes = 64 << 10, kMostBytes = 32 << 10;
  constexpr int kReads = 200, kStep = kKeys / kReads;
  engine_ = open_at(path("merged"), kCacheBytes);
  for (int file = 0; file < kFiles; ++file) {
    WriteSet writes;
    for (int number = file; number < kKeys; number += kFiles) writes.put(numbered_key(number), "value");
    commit(writes, file + 1);
    ASSERT_TRUE(engine_->checkpoint().ok());
  }
  while (table_files(path("merged")) != 1) std::this_thread::yield();

  const uint64_t before = bytes_read();
  for (int number = 0; number < kKeys; number += kStep) EXPECT_EQ(get(numbered_key(number)), "value");
  const uint64_t read = bytes_read() - before;
  EXPECT_GT(read / kReads, 0u) << "the cache is too large for this test";
  EXPECT_LT(read / kReads, kMostBytes);
}

// What a crash leaves: the files, without what was only in memory.
TEST_F(RocksEngineTest, AfterACrashTheEngineIsAtItsFlushedPosition) {
  for (uint64_t i = 1; i <= 3000; ++i)
    put("k" + std::to_string(i % 100), std::string(1000, 'a' + static_cast<char>(i % 26)), i);
  ASSERT_TRUE(engine_->checkpoint().ok());
  const LogPosition flushed = engine_->flushed_position();
  EXPECT_EQ(flushed.offset, 3000u);
  put("k1", "lost", 3001);
  copy_data_to(path("crashed"));
  const auto crashed = open_at(path("crashed"));
  EXPECT_EQ(crashed->replay_position(), flushed);
  EXPECT_EQ(get(*crashed, "k0"), std::string(1000, 'a' + 3000 % 26));
  EXPECT_NE(get(*crashed, "k1"), "lost");
}

TEST_F(RocksEngineTest, ABackupOpensAtTheCommitPointItNames) {
  put("k", "1", 10);
  const auto point = engine_->backup_to(path("backup"));
  ASSERT_TRUE(point.ok()) << point.error().message;
  put("k", "2", 20);
  EXPECT_EQ(point->position, (LogPosition{1, 10}));
  const auto copy = open_at(path("backup"));
  EXPECT_EQ(copy->replay_position(), point->position);
  EXPECT_EQ(get(*copy, "k"), "1");
}

std::string key_with_id(uint64_t id) {
  std::string key = "t";
  append_big_endian(key, id, 8);
  return key;
}

TEST_F(RocksEngineTest, ProvisionalRowIdsBecomeFinalInCommitOrder) {
  WriteSet first, second;
  for (WriteSet* writes : {&first, &second}) {
    for (int i = 0; i < 2; ++i) {
      const uint64_t id = writes->new_provisional_row_id(7);
      writes->put(key_with_id(id), writes == &first ? "first" : "second", WriteSet::RowId::AtKeyEnd, 7);
    }
  }
  std::string reference = "V";
  append_big_endian(reference, kProvisionalRowId | 1, 8);
  second.put("unique", reference, WriteSet::RowId::AtValueEnd, 7);
  second.erase(key_with_id(kProvisionalRowId), WriteSet::RowId::AtKeyEnd,
               7);  // inserted and erased in one transaction
  WriteSet* const list[] = {&first, &second};
  commit_all(list, 10);
  EXPECT_EQ(get(key_with_id(1)), "first");
  EXPECT_EQ(get(key_with_id(2)), "first");
  EXPECT_EQ(get(key_with_id(3)), "(none)");
  EXPECT_EQ(get(key_with_id(4)), "second");
  EXPECT_EQ(load_be(get("unique").data() + 1, 8), 4u);

  engine_.reset();
  open();
  WriteSet third;
  third.put(key_with_id(third.new_provisional_row_id(7)), "third", WriteSet::RowId::AtKeyEnd, 7);
  commit(third, 20);
  EXPECT_EQ(get(key_with_id(5)), "third");
}

TEST_F(RocksEngineTest, AutoIncrementIsReservedInMemoryAndDurableWithItsUser) {
  EXPECT_EQ(*engine_->next_auto_increment(7, 3, 1), 1u);
  EXPECT_EQ(*engine_->next_auto_increment(7, 1, 1), 4u);
  EXPECT_EQ(*engine_->next_auto_increment(7, 1, 100), 100u);
  WriteSet writes;
  writes.put("k", "v");
  writes.raise_auto_increment(7, 5);
  commit(writes, 10);
  EXPECT_EQ(engine_->peek_auto_increment(7), 101u);
  engine_.reset();
  open();
  EXPECT_EQ(engine_->peek_auto_increment(7), 5u);
}

TEST_F(RocksEngineTest, ARestartedAutoIncrementIsLowerFromThenOn) {
  EXPECT_EQ(*engine_->next_auto_increment(7, 100, 1), 1u);
  WriteSet used, restarted, later;
  used.raise_auto_increment(7, 90);
  commit(used, 10);
  restarted.restart_auto_increment(7, 3);
  commit(restarted, 20);
  EXPECT_EQ(engine_->peek_auto_increment(7), 3u);
  later.raise_auto_increment(7, 5);
  commit(later, 30);
  EXPECT_EQ(engine_->peek_auto_increment(7), 5u);
  engine_.reset();
  open();
  EXPECT_EQ(engine_->peek_auto_increment(7), 5u);
}

// Several memtables are full before it ends, and a flush that begins in the middle looks around.
TEST_F(RocksEngineTest, ATransactionThatIsTakenInPartsIsSeenWholeOrNotAtAll) {
  constexpr int kRows = 400;
  const auto key = [](int row) { return "0 key " + std::to_string(1000 + row); };
  const auto rows = [&](const SnapshotPtr& snapshot) {
    size_t found = 0;
    const auto all = engine_->iterate(snapshot, "0 key ", "0 key:");
    for (all->seek("0 key "); all->valid(); all->next()) ++found;
    return found;
  };
  testing::RecordingFileSystem temporary;
  WriteSet large;
  large.spill_beyond(10'000, {&temporary, "d"});
  for (int row = 0; row < kRows; ++row) {
    large.put(key(row), std::string(30'000, static_cast<char>('a' + row % 26)));
    ASSERT_TRUE(large.write_spilled().ok());
  }
  put("0 before", "1", 1);
  put(key(0), "old", 2);
  int looks = 0;
  // No part gets past a flush that has not begun, but the last one may be there before this has looked.
  const auto in_the_middle = [&] { return engine_->commit_point().incomplete_up_to.offset == 3; };
  engine_->before_persisting([&]() -> Status {
    const SnapshotPtr taken = engine_->snapshot();
    for (const SnapshotPtr& snapshot : {taken, SnapshotPtr()}) {
      const std::string first = get(key(0), snapshot.get()), last = get(key(kRows - 1), snapshot.get());
      const std::string before = get("0 before", snapshot.get());
      const size_t found = rows(snapshot);
      const uint64_t flushed = engine_->flushed_position().offset;
      if (!in_the_middle()) return {};
      ++looks;
      EXPECT_EQ(first, "old");
      EXPECT_EQ(last, "(none)");
      EXPECT_EQ(before, "1");
      EXPECT_EQ(found, 1u);
      EXPECT_LT(flushed, 3u);
    }
    return {};
  });
  commit(large, 3);
  engine_->before_persisting(nullptr);
  EXPECT_GT(looks, 0);
  EXPECT_EQ(engine_->commit_point().incomplete_up_to, LogPosition());
  const SnapshotPtr behind = engine_->snapshot();
  for (int row = 0; row < kRows; ++row)
    ASSERT_EQ(get(key(row), behind.get()), std::string(30'000, static_cast<char>('a' + row % 26)));
  EXPECT_EQ(rows(behind), size_t{kRows});
  EXPECT_EQ(rows(nullptr), size_t{kRows});
}

TEST(CopyGate, ACopyWaitsUntilTheEngineIsWhole) {
  CopyGate gate;
  std::atomic<bool> copied = false;
  gate.become_incomplete();
  std::thread copier([&] {
    const CopyGate::Copy copy(gate);
    copied = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gate.become_incomplete();  // it is that already: who completes it does not wait for those who wait for him
  EXPECT_FALSE(copied);
  gate.become_whole();
  copier.join();
  EXPECT_TRUE(copied);
}

TEST(CopyGate, NothingBecomesIncompleteWhileACopyIsMade) {
  CopyGate gate;
  std::atomic<bool> incomplete = false;
  std::optional<CopyGate::Copy> copy(std::in_place, gate);
  std::thread committer([&] {
    gate.become_incomplete();
    incomplete = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(incomplete);
  copy.reset();
  committer.join();
  EXPECT_TRUE(incomplete);
}

// Both edges fall between a look and its end.
TEST(PartsGate, ALookThatACommitBeganOrEndedInIsRepeated) {
  PartsGate gate;
  const auto old = std::make_shared<Snapshot>();
  std::optional<PartsGate::Commit> commit;
  std::vector<SnapshotPtr> looked_at;
  gate.whole([&](const SnapshotPtr& before) {
    looked_at.push_back(before);
    if (looked_at.size() == 1) commit.emplace(gate, old);
    return true;
  });
  EXPECT_EQ(looked_at, (std::vector<SnapshotPtr>{nullptr, old}));
  commit.reset();
  looked_at.clear();
  gate.whole([&](const SnapshotPtr& before) {
    looked_at.push_back(before);
    if (looked_at.size() == 1) {
      commit.emplace(gate, old);
      commit.reset();
    }
    return true;
  });
  EXPECT_EQ(looked_at, (std::vector<SnapshotPtr>{nullptr, nullptr}));
}

TEST_F(RocksEngineTest, AnUnknownFormatIsRefusedAndNothingChanged) {
  engine_.reset();
  rocksdb::DB* db = nullptr;
  rocksdb::Options options;
  options.create_if_missing = true;
  ASSERT_TRUE(rocksdb::DB::Open(options, path("foreign"), &db).ok());
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "somebody", "else's").ok());
  delete db;
  const auto opened = open_rocks({.directory = path("foreign")});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("not commitd's"), std::string::npos);
}

TEST_F(RocksEngineTest, ASecondServerOnTheSameDirectoryIsRefused) {
  EXPECT_FALSE(open_rocks({.directory = data()}).ok());
}

// What a crash leaves of one has an entry that says so, whatever was flushed; what is named has not.
TEST_F(RocksEngineTest, UnnamedIndexesAreThereUntilTheyAreNamedOrErased) {
  const auto key_in = [](uint32_t index, std::string_view rest) {
    std::string key;
    append_big_endian(key, index, 4);
    return key.append(rest);
  };
  UnnamedIndexes& unnamed = *engine_->unnamed_indexes();
  std::string value;
  for (const uint32_t index : {2000u, 2001u}) {
    ASSERT_TRUE(unnamed.begin(index).ok());
    WriteSet entries;
    entries.put(key_in(index, "a"), "1");
    entries.put(key_in(index, "b"), "2");
    ASSERT_TRUE(unnamed.fill(entries).ok());
  }
  EXPECT_EQ(*unnamed.all(), (std::vector<uint32_t>{2000, 2001}));
  EXPECT_FALSE(*unnamed.contains(2002));
  WriteSet naming;
  naming.erase(unnamed_index_key(2000));
  commit(naming, 10);
  EXPECT_EQ(*unnamed.all(), std::vector<uint32_t>{2001});
  ASSERT_TRUE(engine_->checkpoint().ok());
  engine_.reset();
  open();
  EXPECT_EQ(*engine_->unnamed_indexes()->all(), std::vector<uint32_t>());
  EXPECT_TRUE(*engine_->get(nullptr, key_in(2000, "b"), value));
  EXPECT_EQ(value, "2");
  EXPECT_FALSE(*engine_->get(nullptr, key_in(2001, "b"), value));
}

}  // namespace
}  // namespace commitd::storage

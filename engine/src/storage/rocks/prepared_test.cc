// The engine with a log of its own: prepared transactions over a crash, and what a write set's record keeps.
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "base/packed_int.h"
#include "storage/engine.h"
#include "storage/write_set_codec.h"

namespace commitd::storage {
namespace {

const Uuid kServer = *Uuid::parse("11111111-1111-1111-1111-111111111111");

class PreparedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 ("prepared-test-" + std::to_string(::getpid()) + "-" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    engine_ = open("data");
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }

  std::unique_ptr<Engine> open(const std::string& name) {
    auto opened = open_rocks({.directory = directory_ / name,
                              .block_cache_bytes = 8 << 20,
                              .write_buffer_bytes = 1 << 20,
                              .own_log = true,
                              .flush_log_at_trx_commit = level_});
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    return std::move(*opened);
  }
  // The files as they are now: what the process had written, and nothing it only had in memory.
  std::unique_ptr<Engine> crashed() {
    const std::string name = "crashed-" + std::to_string(++crashes_);
    std::filesystem::copy(directory_ / "data", directory_ / name, std::filesystem::copy_options::recursive);
    return open(name);
  }
  void prepare(uint64_t gno, const WriteSet& writes) {
    const PreparedTransaction one[] = {{{kServer, gno}, engine_->prepare(writes)}};
    ASSERT_TRUE(engine_->prepare_ordered(one).ok());
  }
  static CommitStep point_at(uint64_t gno) {
    CommitStep point;
    point.position = {1, gno * 100};
    point.added.add_interval(kServer, 1, gno + 1);
    return point;
  }
  static WriteSet write_of(std::string key) {
    WriteSet writes;
    writes.put(std::move(key), "value");
    return writes;
  }
  static bool has(Engine& engine, std::string_view key) {
    std::string value;
    return *engine.get(nullptr, key, value);
  }

  std::shared_ptr<std::atomic<uint64_t>> level_ = std::make_shared<std::atomic<uint64_t>>(1);
  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
  int crashes_ = 0;
};

TEST_F(PreparedTest, WhatIsPreparedSurvivesACrashUnseen) {
  prepare(1, write_of("one"));
  prepare(2, write_of("two"));
  const auto found = crashed();
  EXPECT_EQ(found->recover(), (std::vector<Gtid>{{kServer, 1}, {kServer, 2}}));
  EXPECT_FALSE(has(*found, "one"));
  const auto writes = found->prepared_writes({kServer, 2});
  ASSERT_TRUE(writes.ok() && *writes);
  EXPECT_NE((*writes)->find("two"), nullptr);
  EXPECT_FALSE(*found->prepared_writes({kServer, 3}));
}

TEST_F(PreparedTest, ACommitTakesThePreparedRecordWithIt) {
  WriteSet one = write_of("one");
  prepare(1, one);
  prepare(2, write_of("two"));
  WriteSet* const list[] = {&one};
  ASSERT_TRUE(engine_->commit_ordered(list, point_at(1)).ok());
  ASSERT_TRUE(engine_->commit().ok());
  EXPECT_EQ(engine_->recover(), (std::vector<Gtid>{{kServer, 2}}));
  const auto found = crashed();
  EXPECT_EQ(found->recover(), (std::vector<Gtid>{{kServer, 2}}));
  EXPECT_TRUE(has(*found, "one"));
  EXPECT_EQ(found->replay_position(), (LogPosition{1, 100}));
}

// binlog_order_commits=OFF
TEST_F(PreparedTest, WhatIsCommittedBeforeItsTurnIsKnownFromTheRest) {
  WriteSet one = write_of("one"), two = write_of("two");
  prepare(1, one);
  prepare(2, two);
  CommitStep point = point_at(0);
  point.added.add({kServer, 2});
  point.incomplete_up_to = {1, 200};
  WriteSet* const second[] = {&two};
  ASSERT_TRUE(engine_->commit_ordered(second, point).ok());
  ASSERT_TRUE(engine_->commit().ok());
  {
    const auto found = crashed();
    EXPECT_TRUE(has(*found, "two"));
    EXPECT_FALSE(has(*found, "one"));
    EXPECT_EQ(found->recover(), (std::vector<Gtid>{{kServer, 1}}));
    EXPECT_EQ(found->replay_position(), (LogPosition{1, 0}));
    EXPECT_EQ(found->commit_point().executed, point.added);
    EXPECT_EQ(found->commit_point().incomplete_up_to, (LogPosition{1, 200}));
  }
  std::atomic<bool> is_whole = false;
  std::thread backup([&] {
    const auto copied = engine_->backup_to(directory_ / "backup");
    EXPECT_TRUE(is_whole) << "a copy that lacks a transaction in front of others";
    EXPECT_EQ(copied->position, (LogPosition{1, 200}));
    EXPECT_EQ(copied->incomplete_up_to, LogPosition());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  is_whole = true;
  WriteSet* const first[] = {&one};
  CommitStep behind = point_at(2);
  behind.incomplete_up_to = {1, 200};
  ASSERT_TRUE(engine_->commit_ordered(first, behind).ok());
  ASSERT_TRUE(engine_->commit().ok());
  backup.join();
  EXPECT_TRUE(crashed()->recover().empty());
  EXPECT_EQ(crashed()->commit_point().incomplete_up_to, LogPosition());
}

TEST_F(PreparedTest, ARollbackIsDurable) {
  *level_ = 0;
  prepare(1, write_of("one"));
  const Gtid first[] = {{kServer, 1}};
  ASSERT_TRUE(engine_->rollback(first).ok());
  EXPECT_TRUE(engine_->recover().empty());
  EXPECT_TRUE(crashed()->recover().empty());
}

// 2 writes and does not sync: the process may die. Nothing says when 0 writes, so nothing is expected of it.
TEST_F(PreparedTest, LevelTwoSurvivesTheDeathOfTheProcess) {
  *level_ = 2;
  prepare(1, write_of("one"));
  EXPECT_EQ(crashed()->recover().size(), 1u);
}

TEST_F(PreparedTest, TheBinlogIsSyncedBeforeTheOwnLogIs) {
  int syncs = 0;
  engine_->before_persisting([&]() -> Status {
    ++syncs;
    return {};
  });
  WriteSet one = write_of("one");
  WriteSet* const list[] = {&one};
  ASSERT_TRUE(engine_->commit_ordered(list, point_at(1)).ok());
  EXPECT_EQ(syncs, 0);
  ASSERT_TRUE(engine_->commit().ok());
  EXPECT_EQ(syncs, 1);
  ASSERT_TRUE(engine_->checkpoint().ok());
  EXPECT_EQ(syncs, 2) << "a memtable became a file";
  engine_->before_persisting(nullptr);
}

TEST(WriteSetCodec, KeepsEverythingThatCommitNeeds) {
  WriteSet writes;
  writes.erase_range("a", "b");
  writes.put("plain", std::string("\0x", 2));
  writes.erase("gone");
  std::string row = "t";
  append_big_endian(row, writes.new_provisional_row_id(7), 8);
  writes.put(row, "row", WriteSet::RowId::AtKeyEnd, 7);
  writes.new_provisional_row_id(7);
  writes.raise_auto_increment(8, 42);
  writes.restart_auto_increment(9, 3);
  const auto decoded = decode_write_set(encode_write_set(writes));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->erased_ranges(), writes.erased_ranges());
  EXPECT_EQ(decoded->provisional_counts(), writes.provisional_counts());
  EXPECT_EQ(decoded->auto_increments(), writes.auto_increments());
  EXPECT_EQ(decoded->restarted_auto_increments(), writes.restarted_auto_increments());
  ASSERT_EQ(decoded->entries().size(), writes.entries().size());
  for (const auto& [key, entry] : writes.entries()) {
    const WriteSet::Entry* found = decoded->find(key);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->value, entry.value);
    EXPECT_EQ(found->row_id, entry.row_id);
    EXPECT_EQ(found->table_id, entry.table_id);
  }
  EXPECT_FALSE(decode_write_set(encode_write_set(writes).substr(1)).ok());
  const std::string whole = encode_write_set(writes);
  EXPECT_FALSE(decode_write_set(std::string_view(whole).substr(0, whole.size() - 1)).ok());
}

}  // namespace
}  // namespace commitd::storage

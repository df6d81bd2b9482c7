// A volume that fills up in the middle of a transaction, and has room again: nothing is seen in part, and
// what could not be forgotten is forgotten before its number is used again.
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "base/testing/recording_file_system.h"
#include "storage/rocks/rocks_engine.h"
#include "storage/rocks/testing/file_system_env.h"

namespace commitd::storage {
namespace {

using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

const Uuid kServer = *Uuid::parse("11111111-1111-1111-1111-111111111111");

class Machine {
 public:
  Machine(std::unique_ptr<RecordingFileSystem> disk, bool own_log)
      : files_(std::move(disk)), own_log_(own_log) {
    files_->appends_survive_in_order("d");
    RocksOptions options{.directory = "d",
                         .block_cache_bytes = 1 << 20,
                         .write_buffer_bytes = 64 << 10,
                         .part_bytes = 16 << 10,
                         .own_log = own_log};
    auto opened = open_rocks_on(*env_, options);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    engine_ = std::move(*opened);
  }

  RecordingFileSystem& files() { return *files_; }
  Engine& engine() { return *engine_; }
  std::string get(std::string_view key, const Snapshot* snapshot = nullptr) {
    std::string value;
    const auto found = engine_->get(snapshot, key, value);
    EXPECT_TRUE(found.ok());
    return *found ? value : "(none)";
  }
  Status commit(WriteSet& writes, uint64_t gno) {
    CommitStep point;
    point.position = {1, gno * 100};
    point.added.add_interval(kServer, 1, gno + 1);
    WriteSet* const one[] = {&writes};
    COMMITD_RETURN_IF_ERROR(engine_->commit_ordered(one, point));
    return engine_->commit();
  }
  Status prepare(uint64_t gno, const WriteSet& writes) {
    const PreparedTransaction one[] = {{{kServer, gno}, engine_->prepare(writes)}};
    return engine_->prepare_ordered(one);
  }
  void have_room_again() {
    files_->fail_writes_beyond(UINT64_MAX);
    while (!engine_->room().ok()) std::this_thread::yield();
  }
  Machine after_crash() { return {files_->after_crash(files_->steps(), Loss::DropAll, 1), own_log_}; }

 private:
  std::unique_ptr<RecordingFileSystem> files_;
  const bool own_log_;
  const std::unique_ptr<rocksdb::Env> env_ =
      testing::env_over(*files_, [this] { return files_->room_left(); });
  std::unique_ptr<Engine> engine_;
};

WriteSet write_of(std::string key, std::string value) {
  WriteSet writes;
  writes.put(std::move(key), std::move(value));
  return writes;
}

TEST(RocksRoom, WhatWasPreparedWithoutRoomIsForgottenBeforeItsNumberIsUsedAgain) {
  int failures = 0;
  for (uint64_t space = 0;; space += 100, ++failures) {
    Machine machine(std::make_unique<RecordingFileSystem>(), true);
    machine.files().leave_room_for(space);
    const Status prepared = machine.prepare(2, write_of("lost", std::string(200, 'x')));
    if (prepared.ok()) break;
    EXPECT_EQ(prepared.error().code, er::kDiskFull);
    EXPECT_EQ(machine.prepare(3, write_of("refused", "x")).error().code, er::kDiskFull);
    machine.have_room_again();
    // As for a group with nothing to prepare, a DDL's: the same number may be in it.
    ASSERT_TRUE(machine.engine().prepare_ordered({}).ok());
    Machine crashed = machine.after_crash();
    EXPECT_EQ(crashed.engine().recover(), std::vector<Gtid>()) << space;
    EXPECT_EQ(crashed.get("lost"), "(none)");
  }
  EXPECT_GT(failures, 1);
}

TEST(RocksRoom, WhatCannotBeRolledBackWithoutRoomIsForgottenBeforeItsNumberIsUsedAgain) {
  Machine machine(std::make_unique<RecordingFileSystem>(), true);
  const Gtid gtid{kServer, 2};
  ASSERT_TRUE(machine.prepare(2, write_of("lost", "x")).ok());
  machine.files().leave_room_for(0);
  ASSERT_TRUE(machine.engine().rollback({&gtid, 1}).ok());
  EXPECT_EQ(machine.after_crash().engine().recover(), std::vector{gtid}) << "a start would roll it back";
  EXPECT_EQ(machine.prepare(2, write_of("refused", "x")).error().code, er::kDiskFull);
  machine.have_room_again();
  ASSERT_TRUE(machine.prepare(2, write_of("another", "x")).ok());
  Machine crashed = machine.after_crash();
  const auto writes = crashed.engine().prepared_writes(gtid);
  ASSERT_TRUE(writes.ok() && *writes);
  EXPECT_EQ((*writes)->entries().begin()->first, "another");
}

TEST(RocksRoom, WhatTheOwnLogHasNoRoomForIsThereAndBecomesDurableLater) {
  Machine machine(std::make_unique<RecordingFileSystem>(), true);
  machine.files().leave_room_for(0);
  WriteSet writes = write_of("row", "1");
  EXPECT_EQ(machine.commit(writes, 1).error().code, er::kDiskFull);
  EXPECT_EQ(machine.engine().replay_position().offset, 100u) << "it is not to be taken again";
  EXPECT_EQ(machine.engine().commit().error().code, er::kDiskFull);
  machine.have_room_again();
  ASSERT_TRUE(machine.engine().commit().ok());
  Machine crashed = machine.after_crash();
  EXPECT_EQ(crashed.get("row"), "1");
}

class LargeWithoutRoom : public ::testing::TestWithParam<bool /* a log of its own */> {
 protected:
  static constexpr int kRows = 60;
  static std::string key(int row) { return "0 row" + std::to_string(100 + row); }
  // Not to be made small by compression.
  static std::string value(int row) {
    std::mt19937 random(static_cast<unsigned>(row));
    std::string text(30'000, ' ');
    for (char& c : text) c = static_cast<char>('!' + random() % 90);
    return text;
  }
  void SetUp() override {
    large_.spill_beyond(10'000, {&temporary_, "d"});
    for (int row = 0; row < kRows; ++row) {
      large_.put(key(row), value(row));
      ASSERT_TRUE(large_.write_spilled().ok());
    }
    ASSERT_TRUE(large_.spilled());
  }
  static void expect_all(Machine& machine) {
    for (int row = 0; row < kRows; ++row) ASSERT_EQ(machine.get(key(row)), value(row)) << row;
  }

  RecordingFileSystem temporary_;
  WriteSet large_;
};

// With a log of its own, not when flushes are under way: RocksDB may then not go on (RoomWatch).
TEST_P(LargeWithoutRoom, ItIsSeenWholeOrNotAtAll) {
  for (const uint64_t space : {0, 30'000, 600'000}) {
    if (GetParam() && space > 60'000) continue;
    Machine machine(std::make_unique<RecordingFileSystem>(), GetParam());
    WriteSet before = write_of(key(0), "old");
    ASSERT_TRUE(machine.commit(before, 1).ok());
    machine.files().leave_room_for(space);
    const Status first = machine.commit(large_, 2);
    ASSERT_FALSE(first.ok()) << space;
    ASSERT_EQ(first.error().code, er::kDiskFull) << first.error().message;
    const bool is_taken = machine.engine().replay_position().offset == 200;
    if (!is_taken) {
      const SnapshotPtr snapshot = machine.engine().snapshot();
      for (const Snapshot* at : {snapshot.get(), static_cast<const Snapshot*>(nullptr)}) {
        EXPECT_EQ(machine.get(key(0), at), "old");
        EXPECT_EQ(machine.get(key(1), at), "(none)");
        EXPECT_EQ(machine.get(key(kRows - 1), at), "(none)");
      }
      EXPECT_EQ(machine.commit(large_, 2).error().code, er::kDiskFull);
    }
    EXPECT_EQ(machine.engine().backup_to("copy").error().code, er::kDiskFull);
    {
      Machine crashed(machine.files().after_crash(machine.files().steps(), Loss::KeepAll, 1), GetParam());
      const CommitPoint found = crashed.engine().commit_point();
      if (crashed.get(key(1)) != "(none)") {
        EXPECT_EQ(std::max(found.position, found.incomplete_up_to).offset, 200u);
      }
      ASSERT_TRUE(crashed.commit(large_, 2).ok());
      expect_all(crashed);
    }
    machine.have_room_again();
    ASSERT_TRUE(is_taken ? machine.engine().commit().ok() : machine.commit(large_, 2).ok());
    EXPECT_EQ(machine.engine().commit_point().incomplete_up_to, LogPosition());
    expect_all(machine);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, LargeWithoutRoom, ::testing::Bool());

}  // namespace
}  // namespace commitd::storage

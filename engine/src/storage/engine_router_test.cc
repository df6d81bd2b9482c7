#include "storage/engine_router.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/packed_int.h"
#include "storage/record/key_codec.h"
#include "storage/table_engines.h"

namespace commitd::storage {
namespace {

std::string key_in(std::string_view engine, const std::string& rest) {
  std::string bytes;
  append_index_id(bytes, index_id_in(*find_table_engine(engine), 1000));
  return bytes + rest;
}

std::string row_key_in(std::string_view engine, uint64_t row_id) {
  std::string key = key_in(engine, "");
  append_big_endian(key, row_id, 8);
  return key;
}

TableDef table_in(std::string_view engine, uint64_t id) {
  TableDef table;
  table.id = id;
  table.indexes = {{index_id_in(*find_table_engine(engine), 1000), "PRIMARY", {{0, 0}}, true, true, {}}};
  return table;
}

class EngineRouterTest : public ::testing::Test {
 protected:
  EngineRouterTest() {
    directory_ = std::filesystem::temp_directory_path() /
                 ("router-test-" + std::to_string(::getpid()) + "-" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    open();
  }
  ~EngineRouterTest() override {
    router_.reset();
    std::filesystem::remove_all(directory_);
  }
  void open() {
    router_.reset();
    router_ = std::make_unique<EngineRouter>(
        *open_rocks({.directory = directory_, .block_cache_bytes = 1 << 20, .write_buffer_bytes = 1 << 20}));
  }
  void commit(WriteSet writes) {
    CommitStep point;
    point.position = {1, ++commits_};
    WriteSet* batch[] = {&writes};
    ASSERT_TRUE(router_->commit_ordered(batch, point).ok());
  }
  bool has(const std::string& key) {
    std::string value;
    return *router_->get(nullptr, key, value);
  }

  std::filesystem::path directory_;
  std::unique_ptr<EngineRouter> router_;
  uint64_t commits_ = 100;
};

TEST_F(EngineRouterTest, EachKeyGoesToItsEngineAndThePositionCountsForBoth) {
  router_->memory().start(1, false);
  WriteSet writes;
  writes.put(key_in("ROCKS", "a"), "durable");
  writes.put(key_in("MEMORY", "a"), "in memory");
  commit(std::move(writes));
  EXPECT_TRUE(has(key_in("ROCKS", "a")));
  EXPECT_TRUE(has(key_in("MEMORY", "a")));
  EXPECT_EQ(router_->replay_position().offset, 101u);
  ASSERT_TRUE(router_->checkpoint().ok());

  open();
  router_->memory().start(1, false);
  EXPECT_TRUE(has(key_in("ROCKS", "a")));
  EXPECT_FALSE(has(key_in("MEMORY", "a")));
  EXPECT_EQ(router_->replay_position().offset, 101u);
}

TEST_F(EngineRouterTest, WhatRecoveryRepeatsLeavesTablesInMemoryEmpty) {
  WriteSet writes;
  writes.put(key_in("MEMORY", "a"), "from before");
  writes.put(key_in("ROCKS", "a"), "from before");
  commit(std::move(writes));
  router_->memory().start(7, true);
  EXPECT_FALSE(has(key_in("MEMORY", "a")));
  EXPECT_TRUE(has(key_in("ROCKS", "a")));
  EXPECT_TRUE(router_->memory().lost_rows(table_in("MEMORY", 6)));
  EXPECT_FALSE(router_->memory().lost_rows(table_in("MEMORY", 7)));
  EXPECT_FALSE(router_->memory().lost_rows(table_in("ROCKS", 6)));
}

// A restarted server must go on counting where the others are.
TEST_F(EngineRouterTest, HiddenRowIdsOfTablesInMemoryOutliveThem) {
  router_->memory().start(1, false);
  constexpr uint64_t kTable = 5;
  const auto insert = [&] {
    WriteSet writes;
    const uint64_t provisional = writes.new_provisional_row_id(kTable);
    writes.put(row_key_in("MEMORY", provisional), "row", WriteSet::RowId::AtKeyEnd, kTable);
    commit(std::move(writes));
  };
  insert();
  insert();
  EXPECT_TRUE(has(row_key_in("MEMORY", 1)));
  EXPECT_TRUE(has(row_key_in("MEMORY", 2)));
  ASSERT_TRUE(router_->checkpoint().ok());
  open();
  router_->memory().start(1, false);
  insert();
  EXPECT_FALSE(has(row_key_in("MEMORY", 1)));
  EXPECT_TRUE(has(row_key_in("MEMORY", 3)));
}

TEST_F(EngineRouterTest, TransactionsOfOneBatchGetRowIdsInTheirOrder) {
  router_->memory().start(1, false);
  constexpr uint64_t kTable = 5;
  WriteSet first, second;
  first.put(row_key_in("MEMORY", first.new_provisional_row_id(kTable)), "first", WriteSet::RowId::AtKeyEnd,
            kTable);
  second.put(row_key_in("MEMORY", second.new_provisional_row_id(kTable)), "second", WriteSet::RowId::AtKeyEnd,
             kTable);
  WriteSet* batch[] = {&first, &second};
  ASSERT_TRUE(router_->commit_ordered(batch, CommitStep{}).ok());
  std::string value;
  ASSERT_TRUE(*router_->get(nullptr, row_key_in("MEMORY", 1), value));
  EXPECT_EQ(value, "first");
  ASSERT_TRUE(*router_->get(nullptr, row_key_in("MEMORY", 2), value));
  EXPECT_EQ(value, "second");
}

TEST_F(EngineRouterTest, AnErasedRangeReachesItsEngineOnly) {
  router_->memory().start(1, false);
  WriteSet writes;
  writes.put(key_in("ROCKS", "a"), "1");
  writes.put(key_in("MEMORY", "a"), "1");
  commit(std::move(writes));
  WriteSet dropped;
  dropped.erase_range(key_in("MEMORY", ""), prefix_end(key_in("MEMORY", "")));
  commit(std::move(dropped));
  EXPECT_FALSE(has(key_in("MEMORY", "a")));
  EXPECT_TRUE(has(key_in("ROCKS", "a")));
}

}  // namespace
}  // namespace commitd::storage

#include "storage/memory/memory_tables.h"

#include <gtest/gtest.h>

#include "base/memory_budget.h"
#include "storage/record/key_codec.h"
#include "storage/table_engines.h"

namespace commitd::storage {
namespace {

std::string key(uint32_t index, const std::string& rest) {
  std::string bytes;
  append_index_id(bytes, index_id_in(*find_table_engine("MEMORY"), index));
  return bytes + rest;
}

void put(MemoryTables& tables, const std::string& at, const std::string& value) {
  WriteSet writes;
  writes.put(at, value);
  tables.apply(writes);
}

std::string forwards(Iterator& entries, const std::string& from) {
  std::string all;
  for (entries.seek(from); entries.valid(); entries.next()) all += entries.value();
  return all;
}

std::string backwards(Iterator& entries, const std::string& from) {
  std::string all;
  for (entries.seek_for_prev(from); entries.valid(); entries.prev()) all += entries.value();
  return all;
}

TableDef table_with_index(uint32_t index) {
  TableDef table;
  table.name = "t";
  table.indexes = {{index_id_in(*find_table_engine("HEAP"), index), "PRIMARY", {{0, 0}}, true, true, {}}};
  return table;
}

TEST(MemoryTables, WhatIsPutIsThereUntilItIsErased) {
  MemoryTables tables;
  tables.start(1, false);
  put(tables, key(1, "a"), "1");
  put(tables, key(1, "a"), "2");
  std::string value;
  EXPECT_TRUE(tables.get(key(1, "a"), value));
  EXPECT_EQ(value, "2");
  WriteSet writes;
  writes.erase(key(1, "a"));
  tables.apply(writes);
  EXPECT_FALSE(tables.get(key(1, "a"), value));
}

TEST(MemoryTables, ScansKeepToTheirBoundsInBothDirections) {
  MemoryTables tables;
  tables.start(1, false);
  for (const char* rest : {"a", "b", "c", "d"}) put(tables, key(2, rest), rest);
  put(tables, key(1, "x"), "x");
  put(tables, key(3, "y"), "y");
  const auto entries = tables.iterate(key(2, "b"), key(2, "d"));
  EXPECT_EQ(forwards(*entries, key(2, "b")), "bc");
  EXPECT_EQ(forwards(*entries, key(1, "")), "bc");
  EXPECT_EQ(backwards(*entries, key(2, "d")), "cb");
  EXPECT_EQ(backwards(*entries, key(2, "b")), "b");
  EXPECT_EQ(backwards(*entries, key(2, "a")), "");
}

TEST(MemoryTables, AScanGoesOnWhenItsEntryIsErased) {
  MemoryTables tables;
  tables.start(1, false);
  for (const char* rest : {"a", "b", "c"}) put(tables, key(2, rest), rest);
  const auto entries = tables.iterate(key(2, ""), key(3, ""));
  entries->seek(key(2, "b"));
  WriteSet writes;
  writes.erase(key(2, "b"));
  tables.apply(writes);
  EXPECT_EQ(entries->value(), "b");
  entries->next();
  EXPECT_EQ(entries->value(), "c");
}

TEST(MemoryTables, AnErasedRangeGivesItsRoomBack) {
  MemoryTables tables;
  tables.start(1, false);
  const TableDef table = table_with_index(2);
  put(tables, key(2, "a"), std::string(1000, 'v'));
  put(tables, key(3, "a"), "other");
  EXPECT_FALSE(tables.check_room(table, 100, 1100).ok());
  WriteSet writes;
  writes.erase_range(key(2, ""), key(3, ""));
  writes.put(key(2, "new"), "behind the range");
  tables.apply(writes);
  std::string value;
  EXPECT_FALSE(tables.get(key(2, "a"), value));
  EXPECT_TRUE(tables.get(key(2, "new"), value));
  EXPECT_TRUE(tables.get(key(3, "a"), value));
  EXPECT_TRUE(tables.check_room(table, 100, 1100).ok());
}

TEST(MemoryTables, AFullTableIsError1114) {
  MemoryTables tables;
  tables.start(1, false);
  const TableDef table = table_with_index(2);
  const Status full = tables.check_room(table, 101, 100);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, 1114);
  EXPECT_EQ(full.error().message, "The table 't' is full");
}

TEST(MemoryTables, TheServersMemoryBudgetHoldsForThem) {
  MemoryTables tables;
  tables.start(1, false);
  const TableDef table = table_with_index(2);
  MemoryBudget& budget = MemoryBudget::process();
  budget.set_limit(budget.used() + (1 << 20));
  EXPECT_FALSE(tables.check_room(table, 2 << 20, UINT64_MAX).ok());
  EXPECT_TRUE(tables.check_room(table, 1 << 19, UINT64_MAX).ok());
  budget.set_limit(UINT64_MAX);
}

}  // namespace
}  // namespace commitd::storage

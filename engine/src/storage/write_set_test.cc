#include "storage/write_set.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/recording_file_system.h"

namespace commitd {
namespace {

TEST(WriteSet, TheLastWriteOfAKeyCounts) {
  WriteSet writes;
  writes.put("k", "1");
  writes.put("k", "2");
  EXPECT_EQ(*writes.find("k")->value, "2");
  writes.erase("k");
  ASSERT_NE(writes.find("k"), nullptr);
  EXPECT_FALSE(writes.find("k")->value.has_value());
  EXPECT_EQ(writes.find("other"), nullptr);
}

// Where a value is makes no difference, not for what is taken back either.
TEST(WriteSet, SpilledValuesAreTheSameAsThoseInMemory) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    testing::RecordingFileSystem fs;
    WriteSet in_memory, spilling;
    spilling.spill_beyond(2000, {&fs, "d"});
    std::vector<std::pair<WriteSet::Mark, WriteSet::Mark>> marks;
    std::mt19937 random(seed);
    const auto change = [&](WriteSet& writes, const std::string& key, const std::string& value) {
      value.empty() ? writes.erase(key) : writes.put(key, value);
    };
    for (int i = 0; i < 300; ++i) {
      const std::string key = "0 key " + std::to_string(random() % 60);
      const std::string value(random() % 5 == 0 ? 0 : random() % 40'000, static_cast<char>('a' + i % 26));
      change(in_memory, key, value);
      change(spilling, key, value);
      ASSERT_TRUE(spilling.write_spilled().ok());
      if (random() % 30 == 0) marks.emplace_back(in_memory.mark(), spilling.mark());
      if (random() % 60 == 0 && !marks.empty()) {
        in_memory.rollback_to(marks.back().first);
        spilling.rollback_to(marks.back().second);
      }
    }
    EXPECT_TRUE(spilling.spilled());
    EXPECT_FALSE(in_memory.spilled());
    EXPECT_TRUE(fs.list("d")->empty()) << "its file has no name";
    ASSERT_EQ(in_memory.entries().size(), spilling.entries().size());
    auto expected = in_memory.entries().begin();
    for (const auto& [key, entry] : spilling.entries()) {
      EXPECT_EQ(key, expected->first);
      ASSERT_EQ(entry.value.has_value(), expected->second.value.has_value());
      std::string value;
      if (entry.value) {
        ASSERT_TRUE(spilling.read_value(entry, value).ok());
      }
      EXPECT_TRUE(value == expected->second.value.value_or(""));
      ++expected;
    }
  }
}

TEST(WriteSet, MemoryIsBoundedByWhatIsSpilled) {
  testing::RecordingFileSystem fs;
  WriteSet writes;
  writes.spill_beyond(100'000, {&fs, "d"});
  for (int i = 0; i < 2000; ++i) {
    writes.put("0 key " + std::to_string(i), std::string(10'000, 'v'));
    ASSERT_TRUE(writes.write_spilled().ok());
    ASSERT_LE(writes.byte_size(), 100'000u + 2000 * 80 + (2 << 20));
  }
}

TEST(WriteSet, AFullDiskKeepsTheValuesInMemory) {
  testing::RecordingFileSystem fs;
  WriteSet writes;
  writes.spill_beyond(1000, {&fs, "d"});
  for (int i = 0; i < 40; ++i) writes.put("0 key " + std::to_string(i), std::string(100'000, 'v'));
  fs.fail_writes_beyond(0);
  EXPECT_FALSE(writes.write_spilled().ok());
  std::string value;
  for (const auto& [key, entry] : writes.entries()) {
    ASSERT_TRUE(writes.read_value(entry, value).ok());
    EXPECT_EQ(value.size(), 100'000u);
  }
  fs.fail_writes_beyond(UINT64_MAX);
  ASSERT_TRUE(writes.write_spilled().ok());
  ASSERT_TRUE(writes.read_value(*writes.find("0 key 30"), value).ok());
  EXPECT_EQ(value, std::string(100'000, 'v'));
}

TEST(WriteSet, RollingBackRestoresWhatWasThereAtTheMark) {
  std::mt19937 random(3);
  WriteSet writes;
  std::map<std::string, std::optional<std::string>> model;
  const auto step = [&] {
    const std::string key = std::to_string(random() % 20);
    if (random() % 3 == 0) {
      writes.erase(key);
      model[key] = std::nullopt;
    } else {
      const std::string value(random() % 50, 'v');
      writes.put(key, value);
      model[key] = value;
    }
  };
  const auto contents = [&] {
    std::map<std::string, std::optional<std::string>> found;
    for (const auto& [key, entry] : writes.entries()) found[key] = entry.value;
    return found;
  };
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 5; ++i) step();
    const auto saved = model;
    const size_t size = writes.byte_size();
    const WriteSet::Mark mark = writes.mark();
    for (int i = 0; i < 5; ++i) step();
    if (random() % 2 == 0) continue;
    writes.rollback_to(mark);
    model = saved;
    ASSERT_EQ(contents(), model);
    ASSERT_EQ(writes.byte_size(), size);
  }
  writes.rollback_to(0);
  EXPECT_TRUE(writes.entries().empty());
  EXPECT_EQ(writes.byte_size(), 0u);
}

TEST(WriteSet, ProvisionalRowIdsAreGivenAgainAfterARollback) {
  WriteSet writes;
  EXPECT_EQ(writes.new_provisional_row_id(7), kProvisionalRowId);
  const WriteSet::Mark mark = writes.mark();
  EXPECT_EQ(writes.new_provisional_row_id(7), kProvisionalRowId | 1);
  writes.rollback_to(mark);
  EXPECT_EQ(writes.new_provisional_row_id(7), kProvisionalRowId | 1);
  EXPECT_EQ(writes.provisional_counts().at(7), 2u);
}

TEST(WriteSet, AutoIncrementOnlyGrowsUntilRolledBack) {
  WriteSet writes;
  writes.raise_auto_increment(7, 10);
  const WriteSet::Mark mark = writes.mark();
  writes.raise_auto_increment(7, 5);
  EXPECT_EQ(writes.auto_increments().at(7), 10u);
  writes.raise_auto_increment(7, 20);
  writes.rollback_to(mark);
  EXPECT_EQ(writes.auto_increments().at(7), 10u);
}

}  // namespace
}  // namespace commitd

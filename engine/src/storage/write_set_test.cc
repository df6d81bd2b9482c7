#include "storage/write_set.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

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

#include "replication/unstored_keys.h"

#include <gtest/gtest.h>

namespace commitd::replication {
namespace {

std::vector<UnstoredKeys::Hash> hashes(std::initializer_list<std::string_view> keys) {
  std::vector<UnstoredKeys::Hash> all;
  for (const auto key : keys) all.push_back(UnstoredKeys::hash_of(key));
  return all;
}

TEST(UnstoredKeys, AKeyIsUnstoredUntilTheTurnOfItsLatestWriterIsStored) {
  UnstoredKeys keys;
  keys.add(hashes({"a", "b"}));
  keys.add(hashes({"b"}));
  EXPECT_TRUE(keys.may_have("a"));
  EXPECT_FALSE(keys.may_have("c"));
  keys.stored_up_to(1);
  EXPECT_FALSE(keys.may_have("a"));
  EXPECT_TRUE(keys.may_have("b"));
  EXPECT_TRUE(keys.have_changed(hashes({"c", "b"}), 1));
  EXPECT_FALSE(keys.have_changed(hashes({"c", "a"}), 1));
  keys.stored_up_to(keys.turn());
  EXPECT_FALSE(keys.may_have("b"));
  EXPECT_TRUE(keys.have_changed(hashes({"b"}), 1)) << "it has changed, stored or not";
}

TEST(UnstoredKeys, BehindForgetAnythingMayHaveChangedSinceBefore) {
  UnstoredKeys keys;
  const uint64_t before = keys.turn();
  keys.forget();
  EXPECT_TRUE(keys.have_changed({}, before));
  EXPECT_FALSE(keys.have_changed(hashes({"a"}), keys.turn()));
  EXPECT_TRUE(keys.may_have("a"));
  keys.stored_up_to(keys.turn());
  EXPECT_FALSE(keys.may_have("a"));
}

TEST(UnstoredKeys, TooManyCountAsAll) {
  UnstoredKeys keys;
  std::vector<UnstoredKeys::Hash> many(1 << 18);
  for (size_t i = 0; i < many.size(); ++i) many[i] = i;
  keys.add(many);
  EXPECT_TRUE(keys.may_have("none of them"));
  keys.stored_up_to(keys.turn());
  EXPECT_FALSE(keys.may_have("none of them"));
  keys.add(hashes({"a"}));
  EXPECT_TRUE(keys.may_have("a"));
  EXPECT_FALSE(keys.may_have("b"));
}

}  // namespace
}  // namespace commitd::replication

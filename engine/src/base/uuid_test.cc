#include "base/uuid.h"

#include <gtest/gtest.h>

namespace commitd {
namespace {

TEST(UuidTest, TextFormComesBack) {
  auto uuid = Uuid::parse("3E11FA47-71CA-11E1-9E33-C80AA9429562");
  ASSERT_TRUE(uuid);
  EXPECT_EQ(uuid->to_string(), "3e11fa47-71ca-11e1-9e33-c80aa9429562");
  EXPECT_EQ(uuid->bytes[0], 0x3e);
  EXPECT_EQ(uuid->bytes[15], 0x62);
}

TEST(UuidTest, OnlyTheWholeFormIsAccepted) {
  for (const char* text :
       {"", "3e11fa47", "3e11fa4771ca11e19e33c80aa9429562", "3e11fa47-71ca-11e1-9e33-c80aa942956g",
        "3e11fa47-71ca-11e1-9e33-c80aa94295620", "3e11fa47-71ca-11e1-9e330c80aa9429562"}) {
    EXPECT_FALSE(Uuid::parse(text)) << text;
  }
}

TEST(UuidTest, RandomOnesDifferAndSayTheyAreVersionFour) {
  Uuid first = Uuid::random(), second = Uuid::random();
  EXPECT_NE(first, second);
  EXPECT_EQ(first.to_string()[14], '4');
  EXPECT_FALSE(first.is_nil());
}

}  // namespace
}  // namespace commitd

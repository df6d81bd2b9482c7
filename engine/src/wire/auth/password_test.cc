#include "wire/auth/password.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>

#include "wire/auth/rsa_key.h"

namespace commitd::wire {
namespace {

TEST(Password, TheRightOneIsAcceptedByBothMethodsAndAWrongOneByNone) {
  std::string salt = random_salt();
  std::string double_sha2 = sha256(sha256("secret"));
  EXPECT_TRUE(check_sha2_response(sha2_response("secret", salt), salt, double_sha2));
  EXPECT_FALSE(check_sha2_response(sha2_response("Secret", salt), salt, double_sha2));
  EXPECT_FALSE(check_sha2_response(sha2_response("secret", random_salt()), salt, double_sha2));
  EXPECT_FALSE(check_sha2_response("short", salt, double_sha2));
  EXPECT_FALSE(check_native_response("short", salt, std::string(20, 'x')));
}

TEST(Password, SaltsHoldNoByteThatEndsAString) {
  for (int i = 0; i < 1000; ++i) {
    std::string salt = random_salt();
    ASSERT_EQ(salt.size(), kSaltSize);
    EXPECT_EQ(salt.find_first_of(std::string_view("\0$", 2)), std::string::npos);
  }
}

// A password's answer to a salt must be good for that salt only.
TEST(Password, NoSaltComesTwice) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(random_salt()).second);
}

// The test vectors of the specification.
TEST(Sha256Crypt, GivesTheSpecifiedHashes) {
  EXPECT_EQ(sha256_crypt("Hello world!", "saltstring", 5000), "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
  EXPECT_EQ(sha256_crypt("Hello world!", "saltstringsaltst", 10000),
            "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA");
}

TEST(Sha256Crypt, ChecksMySqlsStoredForm) {
  std::string salt = "twenty bytes of salt";
  std::string stored = "$A$005$" + salt + sha256_crypt("secret", salt, 5000);
  EXPECT_TRUE(is_sha2_crypt(stored));
  EXPECT_TRUE(check_sha2_crypt("secret", stored));
  EXPECT_FALSE(check_sha2_crypt("secret ", stored));
  EXPECT_FALSE(check_sha2_crypt("secret", stored.substr(1)));
}

class RsaKeyTest : public testing::Test {
 protected:
  RsaKeyTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "rsa_key_test.XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~RsaKeyTest() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

TEST_F(RsaKeyTest, WhatAClientEncryptsIsReadAgainAlsoAfterARestart) {
  auto first = RsaKey::load_or_create(directory_);
  ASSERT_TRUE(first.ok());
  auto encrypted = rsa_encrypt(first->public_pem(), "secret");
  ASSERT_TRUE(encrypted);
  auto again = RsaKey::load_or_create(directory_);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->decrypt(*encrypted), "secret");
  EXPECT_FALSE(again->decrypt("garbage"));
}

TEST_F(RsaKeyTest, TheKeyFileIsForTheServerAlone) {
  ASSERT_TRUE(RsaKey::load_or_create(directory_).ok());
  auto permissions = std::filesystem::status(directory_ + "/private_key.pem").permissions();
  EXPECT_EQ(permissions & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
            std::filesystem::perms::none);
}

}  // namespace
}  // namespace commitd::wire

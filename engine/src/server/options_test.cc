#include "server/options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/error_codes.h"

namespace commitd::server {
namespace {

Result<Options> parse(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  return parse_options(pointers);
}

TEST(Options, NamesMayHaveDashesOrUnderscoresAndValuesMayFollow) {
  auto options = parse({"--bind_address=0.0.0.0", "--server-id", "7", "--max_allowed_packet=16M"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->bind_address, "0.0.0.0");
  EXPECT_EQ(options->server_id, 7u);
  EXPECT_EQ(options->max_allowed_packet, 16u << 20);
}

TEST(Options, WhatIsNotAnOptionIsASystemVariable) {
  auto options = parse({"--sync-binlog=0", "--skip-log-bin", "--read-only"});
  ASSERT_TRUE(options.ok());
  using Variables = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(options->variables, (Variables{{"sync-binlog", "0"}, {"log-bin", "OFF"}, {"read-only", "ON"}}));
}

TEST(Options, BadValuesNameTheOption) {
  for (const char* bad : {"--port=70000", "--port=x", "--server-id=0", "--require-role=maybe",
                          "--max-connections=-1", "--server-id"}) {
    auto options = parse({bad});
    ASSERT_FALSE(options.ok()) << bad;
    std::string name = std::string(bad).substr(2, std::string(bad).find('=') - 2);
    EXPECT_NE(options.error().message.find(name), std::string::npos) << options.error().message;
  }
}

TEST(Options, RequireBootstrapImpliesRequireRole) {
  auto options = parse({"--require-bootstrap"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->require_role);
}

TEST(Options, OptionFileGroupsOfOthersAreLeftAlone) {
  std::string path = testing::TempDir() + "options_test.cnf";
  std::ofstream(path)
      << "[client]\nport=1\n[mysqld]\n# comment\nport = 3310\nskip-name-resolve\n[mysqldump]\nquick\n";
  auto options = parse({"--defaults-file=" + path, "--server-id=3"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->port, 3310);
  EXPECT_EQ(options->variables.size(), 1u);
}

TEST(Options, PasswordFilesLoseTheirLineEnd) {
  std::string path = testing::TempDir() + "options_test.password";
  std::ofstream(path) << "se cret\n";
  auto options = parse({"--operator-password-file=" + path});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->operator_password, "se cret");
  EXPECT_FALSE(parse({"--operator-password-file=/nowhere/at/all"}).ok());
}

TEST(Options, NearestNameFindsTypos) {
  std::vector<std::string> known = {"sync_binlog", "server_id", "max_connections"};
  EXPECT_EQ(nearest_name("sinc-binlog", known), "sync-binlog");
  EXPECT_EQ(nearest_name("max-conections", known), "max-connections");
  EXPECT_EQ(nearest_name("completely-different", known), "");
}

}  // namespace
}  // namespace commitd::server

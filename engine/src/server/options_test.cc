#include "server/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
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
  auto options = parse({"--bind_address=0.0.0.0", "--server-id", "7", "--commitd_write_buffer_size=16M"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->bind_address, "0.0.0.0");
  EXPECT_EQ(options->server_id, 7u);
  EXPECT_EQ(options->write_buffer_size, 16u << 20);
}

TEST(Options, WhatIsNotAnOptionIsASystemVariable) {
  auto options = parse({"--sync-binlog=0", "--skip-log-bin", "--read-only"});
  ASSERT_TRUE(options.ok());
  using Variables = std::vector<Options::Variable>;
  EXPECT_EQ(options->variables, (Variables{{"sync-binlog", "0"}, {"log-bin", "OFF"}, {"read-only", "ON"}}));
}

TEST(Options, BadValuesNameTheOption) {
  for (const char* bad :
       {"--port=70000", "--port=x", "--server-id=0", "--require-role=maybe", "--server-id"}) {
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

class OptionFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path_of(const std::string& name) const { return directory_ / name; }
  std::string file_with(const std::string& name, const std::string& text) const {
    std::ofstream(path_of(name)) << text;
    return path_of(name);
  }

  // The process id: other runs of this program may be under way. At most one test of a process is.
  const std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / ("options_test." + std::to_string(getpid()));
};

TEST_F(OptionFiles, GroupsOfOthersAreLeftAlone) {
  std::string path = file_with(
      "groups.cnf",
      "[client]\nport=1\n[mysqld]\n# comment\nport = 3310\nskip-name-resolve\n[mysqldump]\nquick\n");
  auto options = parse({"--defaults-file=" + path, "--server-id=3"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->port, 3310);
  EXPECT_EQ(options->variables.size(), 1u);
}

TEST(Options, SkipDisableEnableAndLooseAreAsInMySql) {
  auto options = parse({"--require-role", "--skip-require-role", "--disable-log-bin", "--enable-read-only",
                        "--loose-no_such_thing=3"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_FALSE(options->require_role);
  using Variables = std::vector<Options::Variable>;
  EXPECT_EQ(options->variables,
            (Variables{{"log-bin", "OFF"}, {"read-only", "ON"}, {"no-such-thing", "3", true}}));
}

TEST_F(OptionFiles, IncludeOthersRelativeToThemselves) {
  std::filesystem::create_directory(path_of("conf.d"));
  file_with("conf.d/20.cnf", "[server]\nserver-id=20\n");
  file_with("conf.d/10.cnf", "[server]\nserver-id=10\nport=1010\n");
  file_with("conf.d/30.ignored", "[server]\nserver-id=30\n");
  file_with("included.cnf", "[commitd]\nsocket = \"/a b/c\" # not part of it\n[mysqld_two]\nhttp-port=7\n");
  std::string path = file_with("main.cnf", "[mysqld]\nport=1\n!include included.cnf\n!includedir conf.d\n");
  auto options = parse({"--defaults-extra-file=" + path, "--defaults-group-suffix=_two", "--admin-port=9"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->socket, "/a b/c");
  EXPECT_EQ(options->server_id, 20u);
  EXPECT_EQ(options->port, 1010);
  EXPECT_EQ(options->http_port, 7);
  EXPECT_EQ(options->admin_port, 9);
  auto without = parse({"--no-defaults", "--defaults-file=" + path});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->port, 3306);
}

TEST_F(OptionFiles, ABrokenOneIsNamedWithItsLine) {
  std::string loop = path_of("loop.cnf");
  file_with("loop.cnf", "!include " + loop + "\n");
  for (const std::string& path :
       {file_with("bad1.cnf", "[mysqld]\n\nport=many\n"), file_with("bad2.cnf", "[mysqld\n"),
        file_with("bad3.cnf", "!inclined x\n"), loop, file_with("bad4.cnf", "!include /nowhere/at/all\n")}) {
    auto options = parse({"--defaults-file=" + path});
    ASSERT_FALSE(options.ok()) << path;
    EXPECT_TRUE(options.error().message.starts_with(path + ":")) << options.error().message;
  }
  auto missing = parse({"--defaults-file=/nowhere/at/all"});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("/nowhere/at/all"), std::string::npos);
}

TEST_F(OptionFiles, ValuesMayBeQuotedAndEscaped) {
  auto options = parse({"--defaults-file=" + file_with("quoted.cnf",
                                                       "[mysqld]\nsocket='/x#y'\n"
                                                       "datadir = a\\sb # comment\n"
                                                       "commitd-block-cache-size=1T\n")});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->socket, "/x#y");
  EXPECT_EQ(options->datadir, "a b");
  EXPECT_EQ(options->block_cache_size, 1ull << 40);
}

TEST_F(OptionFiles, PasswordsLoseTheirLineEnd) {
  std::string path = file_with("password", "se cret\n");
  auto options = parse({"--operator-password-file=" + path});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->operator_password, "se cret");
  EXPECT_FALSE(parse({"--operator-password-file=/nowhere/at/all"}).ok());
  for (const char* nothing : {"", "\n\r\n"}) {
    const std::string empty = file_with("empty", nothing);
    EXPECT_FALSE(parse({"--operator-password-file=" + empty}).ok());
    EXPECT_FALSE(parse({"--root-password-file=" + empty}).ok());
  }
}

TEST(Options, NearestNameFindsTypos) {
  std::vector<std::string> known = {"sync_binlog", "server_id", "max_connections"};
  EXPECT_EQ(nearest_name("sinc-binlog", known), "sync-binlog");
  EXPECT_EQ(nearest_name("max-conections", known), "max-connections");
  EXPECT_EQ(nearest_name("completely-different", known), "");
}

}  // namespace
}  // namespace commitd::server

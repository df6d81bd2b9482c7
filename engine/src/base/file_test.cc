#include "base/file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace commitd {
namespace {

class PosixFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "commitd-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const char* name) const { return directory_ + "/" + name; }

  FileSystem& fs_ = FileSystem::posix();
  std::string directory_;
};

TEST_F(PosixFiles, PiecesStandOneBehindTheOther) {
  auto file = fs_.open(path("a"), FileSystem::Open::Create);
  ASSERT_TRUE(file.ok());
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i)
    texts.push_back(i % 7 == 0 ? "" : std::to_string(i));  // more than one system call takes
  std::vector<std::string_view> pieces(texts.begin(), texts.end());
  ASSERT_TRUE((*file)->write_at(3, pieces).ok());
  std::string expected(3, '\0');
  for (const std::string& text : texts) expected += text;
  EXPECT_EQ(*(*file)->size(), expected.size());
  EXPECT_EQ(*read_whole_file(fs_, path("a")), expected);
}

TEST_F(PosixFiles, ReadingStopsAtTheEnd) {
  auto file = fs_.open(path("a"), FileSystem::Open::Create);
  const std::string_view text = "0123456789";
  ASSERT_TRUE((*file)->write_at(0, std::span(&text, 1)).ok());
  char into[8] = {};
  EXPECT_EQ(*(*file)->read_at(6, into), 4u);
  EXPECT_EQ(*(*file)->read_at(10, into), 0u);
  ASSERT_TRUE((*file)->truncate(2).ok());
  EXPECT_EQ(*read_whole_file(fs_, path("a")), "01");
}

TEST_F(PosixFiles, PreallocationDoesNotChangeTheSize) {
  auto file = fs_.open(path("a"), FileSystem::Open::Create);
  ASSERT_TRUE((*file)->preallocate(0, 1 << 20).ok());
  EXPECT_EQ(*(*file)->size(), 0u);
}

TEST_F(PosixFiles, CreatingAnExistingFileAndOpeningAMissingOneFail) {
  EXPECT_FALSE(fs_.open(path("a"), FileSystem::Open::Read).ok());
  ASSERT_TRUE(fs_.open(path("a"), FileSystem::Open::Create).ok());
  auto again = fs_.open(path("a"), FileSystem::Open::Create);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("File exists"), std::string::npos) << again.error().message;
}

TEST_F(PosixFiles, AtomicReplacementLeavesNoTemporaryFile) {
  ASSERT_TRUE(write_file_atomically(fs_, path("a"), "old").ok());
  ASSERT_TRUE(write_file_atomically(fs_, path("a"), "new").ok());
  EXPECT_EQ(*read_whole_file(fs_, path("a")), "new");
  EXPECT_EQ(*fs_.list(directory_), std::vector<std::string>{"a"});
}

TEST_F(PosixFiles, FullDiskHasItsOwnErrorNumber) {
  auto full = fs_.open("/dev/full", FileSystem::Open::ReadWrite);
  if (!full.ok()) GTEST_SKIP() << "no /dev/full here";
  const std::string_view text = "x";
  auto written = (*full)->write_at(0, std::span(&text, 1));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, er::kDiskFull);
}

}  // namespace
}  // namespace commitd

// A child process commits batches until it is killed; what is found afterwards must be exactly a prefix: the
// data of the commit point that is stored with it, nothing less and nothing more.
#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/packed_int.h"
#include "storage/engine.h"

namespace commitd::storage {
namespace {

constexpr uint64_t kKeys = 500;

std::string key_of(uint64_t batch) {
  return "k" + std::to_string(batch % kKeys);
}

std::unique_ptr<Engine> open_at(const std::string& directory) {
  auto opened =
      open_rocks({.directory = directory, .block_cache_bytes = 8 << 20, .write_buffer_bytes = 256 << 10});
  return opened ? std::move(*opened) : nullptr;
}

// Batch n puts n under two keys of its own: a lone half would be seen.
[[noreturn]] void commit_until_killed(const std::string& directory) {
  const auto engine = open_at(directory);
  if (engine == nullptr) _exit(1);
  for (uint64_t batch = engine->replay_position().position.offset + 1;; ++batch) {
    std::string value;
    append_big_endian(value, batch, 8);
    value.resize(400, 'x');
    WriteSet left, right;
    left.put("l" + key_of(batch), value);
    right.put("r" + key_of(batch), value);
    right.raise_auto_increment(1, batch + 1);
    CommitPoint point;
    point.position = {1, batch};
    WriteSet* const both[] = {&left, &right};
    if (!engine->commit_ordered(both, point).ok()) _exit(1);
  }
}

void expect_exact_prefix(Engine& engine) {
  const uint64_t last = engine.replay_position().position.offset;
  EXPECT_EQ(engine.peek_auto_increment(1), last + 1);
  for (uint64_t batch = last > kKeys ? last - kKeys + 1 : 1; batch <= last; ++batch) {
    for (const char* side : {"l", "r"}) {
      std::string value;
      const auto found = engine.get(nullptr, side + key_of(batch), value);
      ASSERT_TRUE(found.ok() && *found) << "batch " << batch << " of " << last;
      ASSERT_EQ(load_be(value.data(), 8), batch)
          << "the engine holds something else than its commit point says";
    }
  }
}

TEST(RocksCrash, KilledAtAnyMomentItComesUpAsAPrefix) {
  const std::string directory =
      std::filesystem::temp_directory_path() / ("rocks-crash-" + std::to_string(::getpid()));
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  uint64_t last = 0;
  for (int round = 0; round < 8; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) commit_until_killed(directory);
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 60 * round));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto engine = open_at(directory);
    ASSERT_NE(engine, nullptr);
    expect_exact_prefix(*engine);
    EXPECT_GE(engine->replay_position().position.offset, last);
    last = engine->replay_position().position.offset;
  }
  EXPECT_GT(last, 0u);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace commitd::storage

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
#include "storage/gtid_storage.h"

namespace commitd::storage {
namespace {

constexpr uint64_t kKeys = 500;
constexpr uint64_t kBatchesAlike = 100;  // a flush writes several such runs, and is inside of one

std::string key_of(uint64_t batch) {
  return "k" + std::to_string(batch % kKeys);
}

// Of each 16 the even ones come first, then the others, backwards: gaps come and are filled from both sides.
Gtid gtid_of(uint64_t batch) {
  const uint64_t in_block = batch % 16;
  const uint64_t place = in_block < 8 ? 2 * in_block : 31 - 2 * in_block;
  return {*Uuid::parse("11111111-1111-1111-1111-111111111111"), batch - in_block + place + 1};
}

std::unique_ptr<Engine> open_at(const std::string& directory) {
  auto opened =
      open_rocks({.directory = directory, .block_cache_bytes = 8 << 20, .write_buffer_bytes = 256 << 10});
  return opened ? std::move(*opened) : nullptr;
}

// Batch n puts n under two keys of its own: a lone half would be seen. A byte goes into the pipe whenever a
// flush has completed. gtid_executed is stored by interval, and for each second run of batches by
// transaction.
[[noreturn]] void commit_until_killed(const std::string& directory, int flushes) {
  const auto engine = open_at(directory);
  if (engine == nullptr) _exit(1);
  const auto settings = std::make_shared<GtidSettings>();
  gtid_storage_of(*engine)->keep_gtids_by(settings);
  LogPosition flushed = engine->flushed_position();
  for (uint64_t batch = engine->replay_position().offset + 1;; ++batch) {
    settings->compression_period = batch / kBatchesAlike % 2;
    std::string value;
    append_big_endian(value, batch, 8);
    value.resize(400, 'x');
    WriteSet left, right;
    left.put("l" + key_of(batch), value);
    right.put("r" + key_of(batch), value);
    right.raise_auto_increment(1, batch + 1);
    CommitStep point;
    point.position = {1, batch};
    point.added.add(gtid_of(batch));
    WriteSet* const both[] = {&left, &right};
    if (!engine->commit_ordered(both, point).ok()) _exit(1);
    const LogPosition now = engine->flushed_position();
    if (now > flushed && write(flushes, "f", 1) != 1) _exit(1);
    flushed = now;
  }
}

void expect_exact_prefix(Engine& engine) {
  const uint64_t last = engine.replay_position().offset;
  EXPECT_EQ(engine.peek_auto_increment(1), last + 1);
  GtidSet executed;
  for (uint64_t batch = 1; batch <= last; ++batch) executed.add(gtid_of(batch));
  EXPECT_EQ(engine.commit_point().executed, executed);
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

void expect_exit_code_0(pid_t child) {
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "the checking child ended with wait status " << status;
}

// RocksDB's threads do not survive a fork, so this process never opens it: writing and checking are done by
// children. The result is the commit point found, 0 when the check failed.
uint64_t check_in_child(const std::string& directory) {
  int found[2];
  EXPECT_EQ(pipe(found), 0);
  const pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    const auto engine = open_at(directory);
    EXPECT_NE(engine, nullptr);
    if (engine != nullptr) expect_exact_prefix(*engine);
    const bool failed = ::testing::Test::HasFailure();
    const uint64_t last = failed ? 0 : engine->replay_position().offset;
    _exit(write(found[1], &last, sizeof last) == sizeof last && !failed ? 0 : 1);
  }
  close(found[1]);
  uint64_t last = 0;
  EXPECT_EQ(read(found[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
  close(found[0]);
  expect_exit_code_0(child);
  return last;
}

void write_in_child_and_kill(const std::string& directory, std::chrono::milliseconds after_a_flush) {
  int flushes[2];
  ASSERT_EQ(pipe(flushes), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) commit_until_killed(directory, flushes[1]);
  close(flushes[1]);
  char flushed = 0;
  ASSERT_EQ(read(flushes[0], &flushed, 1), 1);
  std::this_thread::sleep_for(after_a_flush);
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  close(flushes[0]);
}

TEST(RocksCrash, KilledAtAnyMomentItComesUpAsAPrefix) {
  const std::string directory =
      std::filesystem::temp_directory_path() / ("rocks-crash-" + std::to_string(::getpid()));
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  uint64_t last = 0;
  for (int round = 0; round < 8; ++round) {
    write_in_child_and_kill(directory, std::chrono::milliseconds(7 * round));  // anywhere between two flushes
    const uint64_t found = check_in_child(directory);
    ASSERT_GT(found, last);
    last = found;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace commitd::storage

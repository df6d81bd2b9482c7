#include "commit/commit_pipeline.h"

#include "commit/testing/pipeline_test.h"

namespace commitd::binlog {
namespace {

using namespace testing;
using commitd::testing::RecordingFileSystem;

class SpilledCommits : public PipelineTest {};

// Larger than the pieces it is written in.
constexpr size_t kSeveralPieces = 5 << 20;

std::string second_key(uint64_t id, size_t note_bytes) {
  return second_image(orders_table(), {.id = id, .note_bytes = note_bytes});
}

TEST_F(SpilledCommits, ASpilledTransactionIsAGroupOfItsOwnAndIsThereAfterARestart) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  const LogPosition before = pipeline().durable_end();
  const size_t syncs = fs_.data_syncs();
  pipeline().freeze();
  auto large = begin({.id = 2, .two_rows = true, .spilled = true, .note_bytes = kSeveralPieces});
  auto another = begin({.id = 3});
  pipeline().thaw();
  ASSERT_TRUE(large->get().status.ok());
  ASSERT_TRUE(another->get().status.ok());
  EXPECT_EQ(fs_.data_syncs() - syncs, 2u) << "one for each";
  EXPECT_EQ(server_.engine.state().batch_sizes.back(), 1u);
  EXPECT_EQ(pipeline().log().bytes_between(before, pipeline().durable_end()),
            fs_.content("d/binlog.000001").size() - before.offset);
  server_.stop();

  Server restarted(fs_);
  ASSERT_TRUE(restarted.open_and_start().ok());
  EXPECT_EQ(restarted.pipeline->gtid_executed(), gnos(server_a(), 1, 3));
  const auto keys = restarted.engine.state().keys;
  EXPECT_EQ(std::set(keys.begin(), keys.end()),
            (std::set{key(1), key(2), second_key(2, kSeveralPieces), key(3)}));
}

TEST_F(SpilledCommits, ADiskThatFillsUpInsideASpilledTransactionFailsOnlyThat) {
  start();
  ASSERT_TRUE(commit({1}).status.ok());
  const std::string log_before = fs_.content("d/binlog.000001");
  Commit large{.id = 2, .two_rows = true, .spilled = true, .note_bytes = kSeveralPieces};
  fs_.fail_writes_beyond(log_before.size() + (3 << 20));
  EXPECT_EQ(commit(large).status.error().code, er::kDiskFull);
  EXPECT_TRUE(fs_.content("d/binlog.000001") == log_before) << "nothing of it is left in the log";
  fs_.fail_writes_beyond(UINT64_MAX);
  EXPECT_FALSE(pipeline().failure().has_value());
  large.id = 3;
  const Committed third = commit(large);
  ASSERT_TRUE(third.status.ok());
  EXPECT_EQ(third.gtid.gno, 2u);
  EXPECT_EQ(server_.engine.state().keys.size(), 3u);
}

EventSpool spilled(const std::string& events, RecordingFileSystem& fs) {
  EventSpool spool;
  spool.tail() = events;
  EXPECT_TRUE(spool.spill({&fs, "d"}, events.size()).ok());
  return spool;
}

TEST_F(SpilledCommits, AReceivedTransactionThatIsSpilledIsLoggedAsIfItWereNot) {
  const std::string events = received_from(server_b(), 1, 7);
  RecordingFileSystem other_fs;
  Server other(other_fs);
  start();
  ASSERT_TRUE(other.open_and_start().ok());
  std::atomic<int> durable = 0;
  const auto note = [&durable](LogPosition) { ++durable; };
  pipeline().append_received(events, {server_b(), 1}, note);
  other.pipeline->append_received(spilled(events, other_fs), {server_b(), 1}, note);
  other.pipeline->append_received(received_from(server_b(), 2, 8), {server_b(), 2}, note);
  eventually([&] { return durable == 3 && other.pipeline->gtid_executed() == gnos(server_b(), 1, 2); });
  const LogPosition end = pipeline().durable_end();
  EXPECT_TRUE(fs_.content("d/binlog.000001").substr(end.offset - events.size(), events.size()) ==
              other_fs.content("d/binlog.000001").substr(end.offset - events.size(), events.size()));
  EXPECT_EQ(other.engine.state().keys, (std::vector{key(7), key(8)}));
}

// What must be built a second time, alone, is built in memory: it could not be taken in parts.
TEST_F(SpilledCommits, AReceivedTransactionThatIsLargeIsComparedWhenEverythingInFrontIsStored) {
  start();
  for (const uint64_t gno : {1, 2, 3}) receive(gno);
  eventually([&] { return reported_ == 3; });
  server_.stop();
  settings_->transaction_cache_bytes = 64;
  Server restarted(fs_, {}, {.settings = settings_});
  restarted.applier.rows_conflict = true;
  ASSERT_TRUE(restarted.open_and_start().ok());
  EXPECT_EQ(restarted.engine.state().keys, (std::vector{key(1), key(2), key(3)}));
  EXPECT_EQ(restarted.applier.came_too_early, 0);
}

TEST_F(SpilledCommits, AReceivedTransactionThatIsSpilledIsTriedAgainWhenTheDiskWasFull) {
  start();
  EventSpool events = spilled(received_from(server_b(), 1, 7), fs_);
  fs_.fail_writes_beyond(0);
  pipeline().append_received(std::move(events), {server_b(), 1}, [this](LogPosition) { ++reported_; });
  ASSERT_EQ(commit({1}).status.error().code, er::kDiskFull);
  EXPECT_EQ(reported_, 0);
  fs_.fail_writes_beyond(UINT64_MAX);
  eventually([&] { return reported_ == 1; });
  EXPECT_TRUE(pipeline().gtid_logged().contains(Gtid{server_b(), 1}));
}

}  // namespace
}  // namespace commitd::binlog

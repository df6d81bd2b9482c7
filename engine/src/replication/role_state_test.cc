#include "replication/role_state.h"

#include <map>

#include <gtest/gtest.h>

#include "base/crc32.h"
#include "base/testing/recording_file_system.h"

namespace commitd::replication {
namespace {

RoleState some_state() {
  RoleState state;
  state.epoch = 7;
  state.grant = Grant::Master;
  state.quorum = {3,
                  2,
                  sorted_uuids({Uuid::random(), Uuid::random(), Uuid::random()}),
                  {std::chrono::milliseconds(1500), sql::OnSemisyncTimeout::Error,
                   sql::WaitPoint::AfterCommit, std::chrono::milliseconds(3000)}};
  state.source = {"db-0.db", 3307, Uuid::random(), "us=er", "p%w\nx=1"};
  state.source.options.tls = true;
  state.source.options.ca = "/etc/c=a\n.pem";
  state.source.options.get_public_key = false;
  state.source.options.retry_count = 86400;
  state.source.options.delay = 3600;
  state.start_replica = true;
  state.apply_held = true;
  state.applied_to = {7, 5ull << 32};
  state.source.options.log_file = "binlog.000012";
  state.source.options.log_position = 3ull << 32;
  state.source.options.assign_gtids = "LOCAL";
  state.stand_as_of = {8, 6ull << 32};
  state.place_series = 21;
  state.gno_floor = 1234567890123;
  return state;
}

TEST(RoleState, ComesBackAsItWasWritten) {
  const RoleState state = some_state();
  auto again = RoleState::decode(state.encode());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->epoch, state.epoch);
  EXPECT_EQ(again->grant, state.grant);
  EXPECT_EQ(again->quorum, state.quorum);
  EXPECT_EQ(again->source.host, state.source.host);
  EXPECT_EQ(again->source.port, state.source.port);
  EXPECT_EQ(again->source.source_uuid, state.source.source_uuid);
  EXPECT_EQ(again->source.user, state.source.user);
  EXPECT_EQ(again->source.password, state.source.password);
  EXPECT_EQ(again->source.options, state.source.options);
  EXPECT_EQ(again->start_replica, state.start_replica);
  EXPECT_EQ(again->start_applier, state.start_applier);
  EXPECT_EQ(again->apply_held, state.apply_held);
  EXPECT_EQ(again->applied_to, state.applied_to);
  EXPECT_EQ(again->stand_as_of, state.stand_as_of);
  EXPECT_EQ(again->place_series, state.place_series);
  EXPECT_EQ(again->gno_floor, state.gno_floor);
}

std::string without_lines(std::string text, std::initializer_list<std::string_view> beginnings) {
  for (const std::string_view key : beginnings) {
    for (size_t before = 0; (before = text.find("\n" + std::string(key))) != std::string::npos;)
      text.erase(before + 1, text.find('\n', before + 1) - before);
  }
  const size_t checksum = text.rfind("crc32=");
  return text.substr(0, checksum) + fmt::format("crc32={:08x}\n", crc32_of(text.substr(0, checksum)));
}

// Servers of the release before asked their sources for what they had not, and for their public key.
TEST(RoleState, ASourceOfTheReleaseBeforeIsFollowedAsItWasThen) {
  const auto state = RoleState::decode(without_lines(
      some_state().encode(), {"source_ssl", "source_tls", "get_source", "source_public", "source_connect",
                              "source_retry", "source_heartbeat", "source_delay", "source_auto", "source_log",
                              "assign_gtids", "stand_", "place_series"}));
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->source.host, "db-0.db");
  EXPECT_EQ(state->source.options, sql::SourceOptions{});
  EXPECT_EQ(state->stand_as_of, LogPosition());
}

TEST(RoleState, OneOfTheReleaseBeforeHasStartedBothThreadsOrNone) {
  RoleState state = some_state();
  for (const bool started : {true, false}) {
    state.start_replica = started;
    const auto again =
        RoleState::decode(without_lines(state.encode(), {"start_applier", "apply", "applied"}));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->start_applier, started);
    EXPECT_FALSE(again->apply_held);
    EXPECT_EQ(again->applied_to, LogPosition());
  }
}

TEST(RoleState, OptionsThatAreChosenBeforeASourceIsKnownStay) {
  EXPECT_EQ(RoleState::decode(RoleState{}.encode())->source.options, unknown_source().options);
  RoleState state;
  state.source.options = {};
  EXPECT_EQ(RoleState::decode(state.encode())->source.options, state.source.options);
  state.source.host = "db-0.db";
  EXPECT_EQ(RoleState::decode(state.encode())->source.options, state.source.options);
}

TEST(RoleState, OneOfTheReleaseBeforeHasTheTermsThatWereInForceThen) {
  const auto state = RoleState::decode(
      without_lines(some_state().encode(), {"timeout=", "on_timeout=", "wait_point=", "source_lease="}));
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->quorum.wait_count, 2u);
  EXPECT_EQ(state->quorum.terms, sql::SemisyncTerms{});
}

TEST(RoleState, EveryDamagedByteIsNoticed) {
  const std::string text = some_state().encode();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_FALSE(RoleState::decode(damaged).ok()) << "byte " << i;
  }
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(RoleState::decode(text.substr(0, length)).ok()) << "cut to " << length;
  }
}

TEST(RoleState, IsSavedOnAFullDiskToo) {
  testing::RecordingFileSystem fs;
  ASSERT_TRUE(fs.make_directory("data").ok());
  RoleState state = some_state();
  ASSERT_TRUE(save_role_state(fs, "data/role.state", state).ok());
  fs.start_recording();
  fs.fail_writes_beyond(0);
  std::map<uint64_t, size_t> saved_at;
  for (state.epoch = 8; state.epoch <= 11; ++state.epoch) {
    ASSERT_TRUE(save_role_state(fs, "data/role.state", state).ok()) << "epoch " << state.epoch;
    saved_at[state.epoch] = fs.steps();
    EXPECT_EQ(load_role_state(fs, "data/role.state")->epoch, state.epoch);
  }
  for (size_t step = 0; step <= fs.steps(); ++step) {
    uint64_t saved = 7;
    for (const auto& [epoch, at] : saved_at) saved = at <= step ? epoch : saved;
    for (const auto loss : {testing::Loss::KeepAll, testing::Loss::DropAll, testing::Loss::Random}) {
      auto disk = fs.after_crash(step, loss, static_cast<unsigned>(step));
      disk->fail_writes_beyond(0);
      auto survived = load_role_state(*disk, "data/role.state");
      ASSERT_TRUE(survived.ok()) << "step " << step << ": " << survived.error().message;
      EXPECT_TRUE(survived->epoch == saved || survived->epoch == saved + 1) << "step " << step;
      survived->epoch = 20;
      ASSERT_TRUE(save_role_state(*disk, "data/role.state", *survived).ok()) << "step " << step;
      EXPECT_EQ(load_role_state(*disk, "data/role.state")->epoch, 20u);
    }
  }
}

TEST(RoleState, OfAServerThatHasNoneYetIsSavedOnAFullDiskToo) {
  testing::RecordingFileSystem fs;
  ASSERT_TRUE(fs.make_directory("data").ok());
  keep_room_for_role_state(fs, "data/role.state");
  fs.fail_writes_beyond(0);
  for (uint64_t epoch : {1, 2, 3}) {
    RoleState state = some_state();
    state.epoch = epoch;
    ASSERT_EQ(save_role_state(fs, "data/role.state", state).ok(), epoch < 2) << "only the spare was there";
  }
}

TEST(RoleState, ANewerFormatIsRefusedAsSuch) {
  auto decoded = RoleState::decode("commitd-role 2\nepoch=1\n");
  ASSERT_FALSE(decoded.ok());
  EXPECT_NE(decoded.error().message.find("another release"), std::string::npos) << decoded.error().message;
}

}  // namespace
}  // namespace commitd::replication

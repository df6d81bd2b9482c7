#include "replication/role_manager.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error_codes.h"
#include "base/testing/recording_file_system.h"
#include "log/log.h"
#include "replication/reception.h"

namespace commitd::replication {
namespace {

constexpr char kStatePath[] = "data/role.state";
const Uuid kSelf = *Uuid::parse("11111111-0000-0000-0000-000000000000");
const Uuid kSecond = *Uuid::parse("22222222-0000-0000-0000-000000000000");
const Uuid kThird = *Uuid::parse("33333333-0000-0000-0000-000000000000");

// Holds nothing but the commit point, in memory.
class PointEngine final : public storage::Engine {
 public:
  storage::SnapshotPtr snapshot() override { return nullptr; }
  Result<bool> get(const storage::Snapshot*, std::string_view, std::string&) override { return false; }
  std::unique_ptr<storage::Iterator> iterate(storage::SnapshotPtr, std::string, std::string) override {
    return nullptr;
  }
  Status commit_ordered(std::span<WriteSet* const>, const storage::CommitStep& step) override {
    std::lock_guard lock(mutex_);
    static_cast<storage::EnginePlace&>(point_) = step;
    point_.executed.add(step.added);
    return {};
  }
  storage::CommitPoint commit_point() const override {
    std::lock_guard lock(mutex_);
    return point_;
  }
  LogPosition replay_position() const override { return commit_point().position; }
  bool has_executed(const Gtid& gtid) const override { return commit_point().executed.contains(gtid); }
  LogPosition flushed_position() const override { return replay_position(); }
  Status checkpoint() override { return {}; }
  Result<storage::CommitPoint> backup_to(const std::string&) override { return commit_point(); }
  Result<uint64_t> next_auto_increment(uint64_t, uint64_t, uint64_t at_least) override { return at_least; }
  uint64_t peek_auto_increment(uint64_t) override { return 1; }
  Sizes sizes() const override { return {}; }

 private:
  mutable std::mutex mutex_;
  storage::CommitPoint point_;
};

class NothingToApply final : public binlog::EventApplier {
 public:
  Result<Outcome> build(std::string_view, How, WriteSet&) override { return Outcome{}; }
};

// A server without network and SQL: log, pipeline and role. Started again on the same files it is the same
// server after a crash.
class Host {
 public:
  explicit Host(FileSystem& fs, bool require_role = true) : fs_(fs) {
    thread_ = std::thread([this] { reactor_.run(); });
    ReplicationContext context;
    context.fs = &fs;
    context.state_path = kStatePath;
    context.server_id = 1;
    context.server_uuid = kSelf;
    context.version = "8.4.0-commitd";
    context.require_role = require_role;
    context.reactor = &reactor_;
    context.semisync = semisync;
    context.initialize = [this]() -> Task<Status> { return open_as_task(this); };
    context.close_client_sessions = [this]() -> Task<void> { return count_closed(this); };
    roles.emplace(std::move(context));
    loaded = roles->load();
  }
  ~Host() {
    if (pipeline) {
      run_blocking(roles->shut_down());
      pipeline->stop();
    }
    reactor_.stop();
    thread_.join();
  }

  void open() {
    binlog::LogOptions options;
    options.directory = "data";
    options.server_version = "8.4.0-commitd";
    binlog::OpenReport found;
    auto log = binlog::Log::open(fs_, options, engine_.replay_position(), &found);
    ASSERT_TRUE(log.ok()) << log.error().message;
    binlog::PipelineOptions pipeline_options;
    pipeline_options.server_uuid = kSelf;
    pipeline_options.gno_floor = roles->gno_floor();
    pipeline_options.settings = settings;
    pipeline.emplace(std::move(*log), found, engine_, applier_, pipeline_options);
    const LogPosition limit = roles->starts_undecided() ? found.acknowledged : found.end;
    ASSERT_TRUE(pipeline->replay(limit).ok());
    roles->attach(*pipeline);
    pipeline->start();
  }

  void switch_semisync(bool on) {
    semisync->change([on](SemisyncPolicy& policy) { policy.enabled = on; });
    roles->semisync_changed();
  }
  Status fence(uint64_t epoch) { return run_blocking(roles->fence(epoch)); }
  Status promote(uint64_t epoch, uint32_t wait_count, std::vector<Uuid> members,
                 sql::SemisyncTerms terms = {}) {
    return run_blocking(roles->promote(epoch, {wait_count, std::move(members), terms}));
  }
  Status hand_over(uint64_t epoch, std::chrono::milliseconds timeout) {
    return run_blocking(roles->hand_over(epoch, timeout));
  }
  Status follow(uint64_t epoch, const Uuid& source) {
    sql::FollowTarget target;
    target.host = "127.0.0.1";
    target.port = 1;  // nobody listens there
    target.source_uuid = source;
    return run_blocking(roles->follow(epoch, std::move(target)));
  }
  Status quorum(uint64_t epoch, uint64_t version, uint32_t wait_count, std::vector<Uuid> members) {
    return run_blocking(roles->set_quorum(epoch, version, {wait_count, std::move(members)}));
  }
  std::string shown(std::string_view column) {
    for (auto& [name, value] : roles->instance_row()) {
      if (name == column) return value.value_or("NULL");
    }
    return "no such column";
  }
  bool becomes_writable() {
    for (int i = 0; i < 1000 && !roles->check_writable().ok(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return roles->check_writable().ok();
  }

  const std::shared_ptr<binlog::CommitSettings> settings = std::make_shared<binlog::CommitSettings>();
  const std::shared_ptr<SemisyncSettings> semisync = std::make_shared<SemisyncSettings>();

 private:  // what the pipeline uses, and lives longer
  FileSystem& fs_;
  PointEngine engine_;
  NothingToApply applier_;

 public:
  Status loaded;
  std::optional<RoleManager> roles;
  std::optional<binlog::CommitPipeline> pipeline;
  bool catches_up() const { return roles->offline_for_clients().starts_with("it has just become"); }
  bool is_former_master() const { return roles->offline_for_clients().starts_with("it was the master"); }

  std::atomic<int> sessions_closed{0};
  std::string role_while_closing;
  bool served_while_closing = false, catches_up_while_closing = false;

 private:
  static Task<Status> open_as_task(Host* self) {
    self->open();
    co_return Status{};
  }
  static Task<void> count_closed(Host* self) {
    ++self->sessions_closed;
    self->role_while_closing = self->shown("role");
    self->served_while_closing = self->roles->may_serve_clients();
    if (!self->is_former_master()) self->catches_up_while_closing = self->catches_up();
    co_return;
  }

  Reactor reactor_{"background"};
  std::thread thread_;
};

class RoleManagerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(fs_.make_directory("data").ok()); }
  RoleState on_disk() { return *load_role_state(fs_, kStatePath); }

  testing::RecordingFileSystem fs_;
};

#define EXPECT_CODE(expected, status)                                       \
  do {                                                                      \
    Status outcome_ = (status);                                             \
    ASSERT_FALSE(outcome_.ok());                                            \
    EXPECT_EQ(outcome_.error().code, expected) << outcome_.error().message; \
  } while (false)

TEST_F(RoleManagerTest, OnlyAMasterShowsAQuorum) {
  Host host(fs_);
  host.open();
  const auto is_shown = [&](std::string_view version, std::string_view wait_count) {
    EXPECT_EQ(host.shown("quorum_version"), version);
    EXPECT_EQ(host.shown("wait_count"), wait_count);
  };
  ASSERT_TRUE(host.promote(1, 1, {kSecond}).ok());
  ASSERT_TRUE(host.quorum(1, 4, 2, {kSecond, kThird}).ok());
  is_shown("4", "2");
  ASSERT_TRUE(host.fence(2).ok());
  is_shown("0", "0");
  EXPECT_EQ(host.shown("members"), "");
  ASSERT_TRUE(host.follow(2, kSecond).ok());
  is_shown("0", "0");
}

TEST_F(RoleManagerTest, TheTermsOfAQuorumAreShownKeptAndBelongToIt) {
  sql::SemisyncTerms terms;
  terms.timeout = std::chrono::milliseconds(1500);
  terms.on_timeout = OnSemisyncTimeout::Error;
  terms.lease = std::chrono::milliseconds(3000);
  {
    Host host(fs_);
    host.open();
    ASSERT_TRUE(host.promote(1, 1, {kSecond}, terms).ok());
    EXPECT_EQ(host.shown("semisync_timeout"), "1500");
    EXPECT_EQ(host.shown("semisync_on_timeout"), "error");
    EXPECT_EQ(host.shown("source_lease"), "3000");
    EXPECT_EQ(host.roles->semisync_policy().timeout, terms.timeout);
    EXPECT_CODE(er::kStaleEpoch, host.promote(1, 1, {kSecond}));
    terms.wait_point = sql::WaitPoint::AfterCommit;
    EXPECT_CODE(er::kStaleEpoch, host.promote(1, 1, {kSecond}, terms));
    terms.wait_point = sql::WaitPoint::AfterSync;
  }
  Host again(fs_);
  ASSERT_TRUE(again.loaded.ok());
  again.open();
  ASSERT_TRUE(again.promote(1, 1, {kSecond}, terms).ok());
  EXPECT_EQ(again.shown("semisync_on_timeout"), "error");
}

TEST_F(RoleManagerTest, AMasterThatHearsNobodyServesNoClientsWhenItHasALease) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 0, {}, {.lease = std::chrono::milliseconds(3000)}).ok());
  EXPECT_TRUE(host.roles->may_serve_clients()) << "nobody is waited for";
  ASSERT_TRUE(host.promote(2, 1, {kSecond}).ok());
  EXPECT_TRUE(host.roles->may_serve_clients());
  ASSERT_TRUE(host.promote(3, 1, {kSecond}, {.lease = std::chrono::milliseconds(3000)}).ok());
  EXPECT_FALSE(host.roles->may_serve_clients());
  EXPECT_EQ(host.shown("lease_held"), "0");
  ASSERT_TRUE(host.fence(4).ok());
  EXPECT_FALSE(host.served_while_closing) << "who is connected to it takes it for the master";
  EXPECT_TRUE(host.roles->may_serve_clients()) << "what it shows is what was acknowledged, as of any replica";
}

// Whatever its log has may have been acknowledged by the former master, and read there.
TEST_F(RoleManagerTest, ANewMasterCatchesUpUntilWhatItInheritedIsVisible) {
  Host host(fs_);
  host.open();
  EXPECT_EQ(host.roles->offline_for_clients(), "");
  ASSERT_TRUE(host.promote(1, 1, {kSecond}).ok());
  EXPECT_TRUE(host.catches_up());
  ASSERT_TRUE(host.quorum(1, 2, 0, {}).ok());  // all is acknowledged now
  ASSERT_TRUE(host.becomes_writable());
  EXPECT_EQ(host.roles->offline_for_clients(), "");
  ASSERT_TRUE(host.quorum(1, 3, 1, {kSecond}).ok());
  EXPECT_EQ(host.roles->offline_for_clients(), "")
      << "writes wait, and what is visible is all that there is to read";
  ASSERT_TRUE(host.promote(2, 1, {kSecond}).ok());
  EXPECT_TRUE(host.catches_up());
  ASSERT_TRUE(host.fence(3).ok());
  EXPECT_TRUE(host.catches_up_while_closing) << "who is connected to it takes it for the master";
  EXPECT_TRUE(host.is_former_master());
  ASSERT_TRUE(host.follow(3, kSecond).ok());
  EXPECT_TRUE(host.is_former_master()) << "who comes may still take it for the master";
  EXPECT_EQ(host.shown("offline"), "1");
  ASSERT_TRUE(host.promote(4, 0, {}).ok());
  ASSERT_TRUE(host.becomes_writable());
  EXPECT_EQ(host.roles->offline_for_clients(), "");
  EXPECT_EQ(host.shown("offline"), "0");
}

TEST_F(RoleManagerTest, AMasterThatIsStartedAgainCatchesUp) {
  {
    Host host(fs_);
    host.open();
    ASSERT_TRUE(host.promote(1, 1, {kSecond}).ok());
  }
  Host again(fs_);
  again.open();
  EXPECT_TRUE(again.is_former_master());
  ASSERT_TRUE(again.promote(1, 1, {kSecond}).ok());
  EXPECT_TRUE(again.catches_up());
  ASSERT_TRUE(again.quorum(1, 2, 0, {}).ok());
  ASSERT_TRUE(again.becomes_writable());
  EXPECT_EQ(again.roles->offline_for_clients(), "");
}

TEST_F(RoleManagerTest, AHandoverClosesForWritesWaitsAndIsTakenBack) {
  Host host(fs_);
  host.open();
  constexpr std::chrono::milliseconds kLong{60'000}, kShort{1};
  EXPECT_CODE(er::kStaleEpoch, host.hand_over(1, kLong));
  ASSERT_TRUE(host.promote(1, 0, {}).ok());
  ASSERT_TRUE(host.becomes_writable());
  EXPECT_CODE(er::kStaleEpoch, host.hand_over(2, kLong));
  ASSERT_TRUE(host.hand_over(1, kLong).ok());
  EXPECT_EQ(host.shown("handed_over"), "1");
  EXPECT_EQ(host.shown("writes_blocked"), "1");
  EXPECT_CODE(er::kOptionPreventsStatement, host.roles->check_writable());
  ASSERT_TRUE(host.hand_over(1, kLong).ok());
  ASSERT_TRUE(host.promote(1, 0, {}).ok());
  EXPECT_TRUE(host.becomes_writable());
  EXPECT_EQ(host.shown("handed_over"), "0");
  ASSERT_TRUE(host.promote(2, 1, {kSecond}).ok());
  EXPECT_CODE(3024, host.hand_over(2, kShort));  // the epoch transaction is not acknowledged
  EXPECT_EQ(host.shown("handed_over"), "0");
  ASSERT_TRUE(host.fence(3).ok());
  EXPECT_CODE(er::kStaleEpoch, host.hand_over(3, kLong));
}

// One that waits for acknowledgements while something else happens.
class PendingHandover {
 public:
  PendingHandover(Host& host, uint64_t epoch, std::chrono::milliseconds timeout)
      : thread_([this, &host, epoch, timeout] { outcome_ = host.hand_over(epoch, timeout); }) {
    while (host.shown("handed_over") != "1") std::this_thread::yield();
  }
  ~PendingHandover() {
    if (thread_.joinable()) thread_.join();
  }
  Status outcome() {
    thread_.join();
    return *outcome_;
  }

 private:
  std::optional<Status> outcome_;
  std::thread thread_;
};

TEST_F(RoleManagerTest, AMasterThatHasHandedOverHasCaughtUp) {
  constexpr std::chrono::milliseconds kLong{60'000};
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 1, {kSecond}).ok());
  PendingHandover handover(host, 1, kLong);
  EXPECT_TRUE(host.catches_up());
  ASSERT_TRUE(host.quorum(1, 2, 0, {}).ok());
  ASSERT_TRUE(handover.outcome().ok());
  EXPECT_EQ(host.roles->offline_for_clients(), "");
}

TEST_F(RoleManagerTest, WhatWasTakenBackOrEndedMeanwhileIsNotHandedOver) {
  constexpr std::chrono::milliseconds kLong{60'000}, kShort{1};
  Host host(fs_);
  host.open();
  const auto promote = [&](uint64_t epoch) { return host.promote(epoch, 1, {kSecond}); };
  ASSERT_TRUE(promote(1).ok());
  {
    PendingHandover taken_back(host, 1, kLong);
    ASSERT_TRUE(promote(1).ok());
    EXPECT_EQ(host.shown("handed_over"), "0");
    ASSERT_TRUE(host.quorum(1, 2, 0, {}).ok());  // all is acknowledged now
    EXPECT_TRUE(host.becomes_writable());
    EXPECT_CODE(er::kStaleEpoch, taken_back.outcome());
  }
  ASSERT_TRUE(promote(2).ok());
  {
    PendingHandover first(host, 2, kLong);
    EXPECT_CODE(3024, host.hand_over(2, kShort));
    EXPECT_CODE(er::kStaleEpoch, first.outcome());
    EXPECT_EQ(host.shown("handed_over"), "0");
  }
  {
    PendingHandover fenced(host, 2, kLong);
    ASSERT_TRUE(host.fence(3).ok());
    EXPECT_CODE(er::kStaleEpoch, fenced.outcome());
    EXPECT_EQ(host.shown("handed_over"), "0");
  }
}

TEST_F(RoleManagerTest, WhatIsVisibleAndOnNoMemberIsNotHandedOver) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 0, {}).ok());
  ASSERT_TRUE(host.becomes_writable());
  ASSERT_TRUE(host.quorum(1, 2, 1, {kSecond}).ok());
  EXPECT_CODE(3024, host.hand_over(1, std::chrono::milliseconds(1)));
  EXPECT_TRUE(host.becomes_writable());
}

TEST_F(RoleManagerTest, WithoutDataThereIsNoRoleToGive) {
  Host host(fs_);
  EXPECT_EQ(host.shown("role"), "uninitialized");
  EXPECT_CODE(er::kOptionPreventsStatement, host.fence(1));
  EXPECT_CODE(er::kOptionPreventsStatement, host.promote(1, 0, {}));
  ASSERT_TRUE(run_blocking(host.roles->initialize()).ok());
  EXPECT_EQ(host.shown("role"), "undecided");
  EXPECT_CODE(er::kAlreadyInitialized, run_blocking(host.roles->initialize()));
}

TEST_F(RoleManagerTest, AMasterThatNeedsNobodyAcceptsWritesAtOnce) {
  Host host(fs_);
  host.open();
  EXPECT_CODE(er::kOptionPreventsStatement, host.roles->check_writable());
  ASSERT_TRUE(host.promote(3, 0, {}).ok());
  EXPECT_TRUE(host.becomes_writable());
  EXPECT_EQ(host.shown("role"), "master");
  EXPECT_EQ(host.shown("last_log_epoch"), "3");
  EXPECT_EQ(host.shown("gtid_executed"), kSelf.to_string() + ":1");
  EXPECT_EQ(host.shown("writes_blocked"), "0");
}

TEST_F(RoleManagerTest, AMasterIsClosedUntilItsEpochIsAcknowledged) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 1, {kSecond, kThird}).ok());
  EXPECT_EQ(host.shown("last_log_epoch"), "1") << "PROMOTE answers when the epoch transaction is durable";
  EXPECT_CODE(er::kOptionPreventsStatement, host.roles->check_writable());
  EXPECT_EQ(host.shown("gtid_executed"), "");
  EXPECT_EQ(host.shown("ack_waiting"), "1");
  EXPECT_EQ(host.shown("writes_blocked"), "1");
  ASSERT_TRUE(host.quorum(1, 1, 0, {kSecond, kThird}).ok());
  EXPECT_TRUE(host.becomes_writable());
  EXPECT_EQ(host.shown("quorum_version"), "1");
}

TEST_F(RoleManagerTest, FencingAMasterClosesItsClientsAndItsLog) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 0, {}).ok());
  ASSERT_TRUE(host.becomes_writable());
  ASSERT_TRUE(host.fence(2).ok());
  EXPECT_GT(host.sessions_closed, 0);
  EXPECT_EQ(host.role_while_closing, "undecided") << "an election trusts what is shown";
  EXPECT_EQ(host.shown("role"), "fenced");
  EXPECT_CODE(er::kOptionPreventsStatement, host.roles->check_writable());
  EXPECT_TRUE(host.fence(2).ok());
  EXPECT_CODE(er::kStaleEpoch, host.fence(1));
  EXPECT_CODE(er::kStaleEpoch, host.promote(1, 0, {}));
}

TEST_F(RoleManagerTest, FencingAWaitingMasterLeavesItsTailUndecided) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 1, {kSecond}).ok());
  ASSERT_TRUE(host.fence(2).ok());
  EXPECT_EQ(host.shown("unapplied_transactions"), "1");
  EXPECT_EQ(host.shown("gtid_executed"), "");
  // Promoted without anybody to wait for, the tail counts.
  ASSERT_TRUE(host.promote(2, 0, {}).ok());
  EXPECT_TRUE(host.becomes_writable());
  EXPECT_EQ(host.shown("gtid_executed"), kSelf.to_string() + ":1-2");
}

TEST_F(RoleManagerTest, TheSameStatementAgainChangesNothing) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 0, {kSecond}).ok());
  ASSERT_TRUE(host.becomes_writable());
  ASSERT_TRUE(host.promote(1, 0, {kSecond}).ok());
  EXPECT_TRUE(host.roles->check_writable().ok());
  EXPECT_EQ(host.sessions_closed, 0);
  EXPECT_EQ(host.shown("gtid_logged"), kSelf.to_string() + ":1");
  EXPECT_CODE(er::kStaleEpoch, host.follow(1, kSecond));
}

TEST_F(RoleManagerTest, AFollowerTriesToReachItsSource) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.follow(4, kSecond).ok());
  EXPECT_EQ(host.shown("role"), "replica");
  EXPECT_EQ(host.shown("source_uuid"), kSecond.to_string());
  EXPECT_EQ(host.shown("epoch"), "4");
  EXPECT_TRUE(host.follow(4, kSecond).ok());
  EXPECT_CODE(er::kStaleEpoch, host.follow(4, kThird));
  EXPECT_CODE(er::kWrongArguments, host.follow(5, kSelf));
  ASSERT_TRUE(host.fence(5).ok());
  EXPECT_EQ(host.shown("receiver_state"), "off");
}

TEST_F(RoleManagerTest, AStatementThatCannotBeMadeDurableHasNoEffect) {
  Host host(fs_);
  host.open();
  ASSERT_TRUE(host.promote(1, 0, {}).ok());
  ASSERT_TRUE(host.becomes_writable());
  fs_.fail_next_syncs(1);
  EXPECT_FALSE(host.fence(2).ok());
  EXPECT_EQ(host.shown("epoch"), "1");
  EXPECT_TRUE(host.roles->check_writable().ok());
}

TEST_F(RoleManagerTest, ARestartedServerIsUndecidedButKeepsItsPromise) {
  {
    Host host(fs_);
    host.open();
    ASSERT_TRUE(host.promote(7, 1, {kSecond}).ok());
  }
  Host again(fs_);
  again.open();
  EXPECT_EQ(again.shown("role"), "undecided");
  EXPECT_EQ(again.shown("epoch"), "7");
  EXPECT_CODE(er::kStaleEpoch, again.fence(6));
  EXPECT_CODE(er::kStaleEpoch, again.follow(7, kSecond));
  // The master of the epoch resumes, without a second epoch transaction.
  ASSERT_TRUE(again.promote(7, 1, {kSecond}).ok());
  EXPECT_EQ(again.shown("role"), "master");
  EXPECT_EQ(again.shown("gtid_logged"), kSelf.to_string() + ":1");
}

// Whatever a crash leaves: once a statement has answered, its epoch is there.
TEST_F(RoleManagerTest, APromiseThatWasAnsweredSurvivesACrashAnywhereBehindIt) {
  size_t answered_at[4] = {};
  {
    Host host(fs_);
    host.open();
    for (uint64_t epoch = 1; epoch <= 3; ++epoch) {
      ASSERT_TRUE(host.fence(epoch).ok());
      answered_at[epoch] = fs_.steps();
    }
  }
  for (size_t step = answered_at[1]; step <= fs_.steps(); ++step) {
    uint64_t promised = 0;
    for (uint64_t epoch = 1; epoch <= 3; ++epoch) {
      if (answered_at[epoch] <= step) promised = epoch;
    }
    for (auto loss : {testing::Loss::KeepAll, testing::Loss::DropAll, testing::Loss::Random}) {
      auto disk = fs_.after_crash(step, loss, static_cast<unsigned>(step));
      auto state = load_role_state(*disk, kStatePath);
      ASSERT_TRUE(state.ok()) << "step " << step << ": " << state.error().message;
      EXPECT_GE(state->epoch, promised) << "step " << step;
    }
  }
}

TEST_F(RoleManagerTest, OutsideAClusterAServerServesByItself) {
  Host host(fs_, false);
  host.open();
  EXPECT_EQ(host.shown("role"), "standalone");
  EXPECT_TRUE(host.roles->check_writable().ok());
  EXPECT_EQ(host.roles->not_ready(), std::nullopt);
  host.switch_semisync(true);
  EXPECT_EQ(host.shown("writes_blocked"), "1");
  host.switch_semisync(false);
  EXPECT_EQ(host.shown("writes_blocked"), "0");

  sql::FollowTarget source;
  source.host = "127.0.0.1";
  source.port = 1;
  EXPECT_FALSE(run_blocking(host.roles->start_replica({}, {})).ok()) << "no source is known yet";
  ASSERT_TRUE(run_blocking(host.roles->change_source([&source](sql::FollowTarget& target) {
                target = source;
                return Status{};
              })).ok());
  ASSERT_TRUE(run_blocking(host.roles->start_replica({}, {})).ok());
  EXPECT_EQ(host.shown("role"), "replica");
  EXPECT_CODE(er::kOptionPreventsStatement, host.roles->check_writable());
  ASSERT_TRUE(run_blocking(host.roles->stop_replica({})).ok());
  EXPECT_TRUE(host.roles->check_writable().ok());
}

TEST_F(RoleManagerTest, AnEpochIsPromisedOnlyByAServerThatSyncsEveryGroup) {
  Host host(fs_);
  host.open();
  host.settings->sync_binlog = 0;
  EXPECT_CODE(er::kOptionPreventsStatement, host.fence(1));
  EXPECT_CODE(er::kOptionPreventsStatement, host.promote(1, 0, {}));
  EXPECT_CODE(er::kOptionPreventsStatement, host.follow(1, kSecond));
  EXPECT_EQ(on_disk().epoch, 0u);
  host.settings->sync_binlog = 1;
  EXPECT_TRUE(host.fence(1).ok());
}

TEST(LostBySource, OnlyWhatAnotherMastersLogMayHaveTakenFromItIsMissing) {
  SourceTraits source;
  source.uuid = kSecond;
  source.log_epoch_before = 4;
  GtidSet surplus;
  surplus.add({kThird, 1});
  EXPECT_TRUE(check_source_lost_nothing(source, surplus, 4).ok()) << "the tail of another master";
  surplus.add({kSecond, 6});
  EXPECT_CODE(er::kDiverged, check_source_lost_nothing(source, surplus, 4));
  EXPECT_CODE(er::kDiverged, check_source_lost_nothing(source, surplus, 5));
  EXPECT_TRUE(check_source_lost_nothing(source, surplus, 3).ok()) << "cut by the master of epoch 4";
}

TEST(LostBySource, ANumberThatIsGivenAnewIsNotTheOneOfThatName) {
  SourceTraits source;
  source.uuid = kSecond;
  source.gno_before = 4;
  source.logged.add_interval(kSecond, 1, 6);  // 5 is the transaction of its present epoch
  EXPECT_FALSE(log_before_epoch(source).contains(Gtid{kSecond, 5}));
  EXPECT_TRUE(log_before_epoch(source).contains(Gtid{kSecond, 4}));
}

TEST_F(RoleManagerTest, AServerThatHasOnceServedUnderEpochsNeverDecidesForItself) {
  {
    Host host(fs_);
    host.open();
    ASSERT_TRUE(host.promote(1, 0, {}).ok());
  }
  Host again(fs_, false);
  again.open();
  EXPECT_EQ(again.shown("role"), "undecided");
}

}  // namespace
}  // namespace commitd::replication

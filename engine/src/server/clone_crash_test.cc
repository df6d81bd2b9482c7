// CLONE INSTANCE between two servers, the recipient crashed behind each operation of its disk: it comes up
// with what it had, or with what it was given, as a whole; never with less than its promises.
#include <spdlog/spdlog.h>

#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/testing/cluster_workload.h"

namespace commitd::server {
namespace {

using namespace testing;
using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

// Far from the decision a part of the moments will do.
#ifdef NDEBUG
constexpr size_t kStride = 16;
#else
constexpr size_t kStride = 64;
#endif
constexpr size_t kNear = 12;
constexpr uint64_t kPromised = 5;

class CloneCrash : public ::testing::Test {
 protected:
  CloneCrash() { spdlog::set_level(spdlog::level::off); }
  ~CloneCrash() override {
    donor_.reset();
    recipient_.reset();
    remove_sites(sites_);
  }

  static void must(const Member& member, const std::string& statement) {
    const auto done = member.ask(statement);
    ASSERT_TRUE(done.ok()) << statement << ": " << done.error().message;
  }

  // A server whose rows say whose they are.
  std::unique_ptr<Member> server_with(size_t number, const std::string& database) {
    auto member = std::make_unique<Member>(sites_[number], disks_[number]);
    demand(member->create(), "create");
    demand(member->start(), "start");
    demand(member->promote(1, 0, {}), "promote");
    wait_for("it takes writes", [&] { return !member->state()->writes_blocked; });
    must(*member, "CREATE DATABASE " + database);
    must(*member, "CREATE TABLE " + database + ".t (id INT PRIMARY KEY, v VARCHAR(100), KEY (v))");
    for (int id = 0; id < kRows; ++id)
      must(*member, fmt::format("INSERT INTO {}.t VALUES ({}, 'row {}')", database, id, id * 7));
    // Of the last one a start without a role does not know that it is acknowledged.
    must(*member, "INSERT INTO " + database + ".t VALUES (-1, 'the last one')");
    return member;
  }

  void run() {
    donor_ = server_with(0, "given");
    recipient_ = server_with(1, "own");
    demand(recipient_->fence(kPromised), "fence");
    own_uuid_ = recipient_->state()->uuid;
    disks_[1].start_recording();
    const auto client = client_of(sites_[0].port);
    must(*recipient_, fmt::format("CLONE INSTANCE FROM '{}'@'127.0.0.1':{} IDENTIFIED BY '{}'", client.user,
                                  client.port, client.password));
    decided_ = disks_[1].steps();
    recipient_->stop();
    stopped_ = disks_[1].steps();
    demand(recipient_->start(), "start on the other data");
    recipient_->stop();
  }

  // Which of the two it has; both or none, or a part, is a failure.
  void judge(RecordingFileSystem& disk, bool must_be_given, size_t& steps_of_start) {
    Member member(sites_[1], disk);
    const Status started = member.start();
    ASSERT_TRUE(started.ok()) << started.error().message;
    steps_of_start = disk.steps();
    const auto state = member.state();
    ASSERT_TRUE(state.ok());
    const bool given = state->uuid != own_uuid_;
    const std::string here = given ? "given" : "own", not_here = given ? "own" : "given";
    EXPECT_TRUE(given || !must_be_given);
    EXPECT_EQ(member.value("SELECT COUNT(*) FROM " + here + ".t WHERE v LIKE 'row%'"), std::to_string(kRows));
    EXPECT_EQ(member.value("SHOW DATABASES LIKE '" + not_here + "'"), "");
    EXPECT_EQ(state->epoch, kPromised);
    EXPECT_EQ(state->role, "undecided");
    seen_given_ += given;
    seen_own_ += !given;
  }

  static constexpr int kRows = 30;
  std::vector<Site> sites_ = new_sites(2);
  RecordingFileSystem disks_[2];
  std::unique_ptr<Member> donor_, recipient_;
  Uuid own_uuid_;
  size_t decided_ = 0, stopped_ = 0, seen_given_ = 0, seen_own_ = 0;
};

TEST_F(CloneCrash, HappensAsAWholeOrNotAtAll) {
  run();
  ASSERT_FALSE(HasFailure());
  for (size_t step = 0; step <= disks_[1].steps(); ++step) {
    const bool near = step + kNear >= decided_ && step <= stopped_ + kNear;
    if (!near && step % kStride != 0) continue;
    SCOPED_TRACE(fmt::format("crash behind operation {} of {}", step, disks_[1].steps()));
    const Loss loss = step % 3 == 0 ? Loss::DropAll : step % 3 == 1 ? Loss::Random : Loss::KeepAll;
    const auto disk = disks_[1].after_crash(step, loss, static_cast<unsigned>(step));
    size_t steps_of_start = 0;
    judge(*disk, step >= decided_, steps_of_start);
    if (HasFailure()) return;
    // And once more, with a second crash in the start.
    const auto again =
        disk->after_crash(step * 7 % (steps_of_start + 1), Loss::Random, static_cast<unsigned>(step));
    judge(*again, step >= decided_, steps_of_start);
    if (HasFailure()) return;
  }
  EXPECT_GT(seen_given_, 0u);
  EXPECT_GT(seen_own_, 0u);
  std::cout << seen_own_ << " starts with what was there, " << seen_given_ << " with what was given\n";
}

}  // namespace
}  // namespace commitd::server

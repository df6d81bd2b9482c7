// A source and two replicas under writers, through everything that an operator does to them, on disks with
// one clock: what each had written when, and what clients were told when.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/testing/member.h"

namespace commitd::server::testing {

class ClusterWorkload {
 public:
  static constexpr size_t kMembers = 3;
  static constexpr int kAccounts = 6, kBalance = 100;  // transfers keep the sum

  struct Shape {
    int writers = 3;
    int transactions = 6;      // of each writer in each act
    size_t faulty = SIZE_MAX;  // this member's disk …
    bool lies_about_syncs = false, syncs_late = false;
  };
  explicit ClusterWorkload(const Shape& shape) : shape_(shape) {}
  ~ClusterWorkload();
  // Records; the servers have ended when it returns.
  void run();

  commitd::testing::RecordingFileSystem& disk(size_t member) const { return *disks_[member]; }
  const Site& site(size_t member) const { return sites_[member]; }
  size_t begins() const { return begins_; }
  size_t ends() const { return *clock_; }

  // From `time` on nothing may take this away.
  struct Promise {
    size_t time = 0;
    GtidSet executed;
    int64_t id = 0;  // of a row in test.ledger
  };
  const std::vector<Promise>& promises() const { return promises_; }
  // Transactions that were in a log at `time`, and were cut off it later.
  struct Seen {
    size_t time = 0;
    std::map<Gtid, uint64_t> transactions;
  };
  const std::vector<Seen>& seen() const { return seen_; }

 private:
  void make_members();
  void begin();
  void one_replica_is_away();
  void the_master_is_lost_with_a_tail();
  void it_comes_back();
  void mastership_is_handed_over();
  void promote(size_t master, uint64_t epoch);
  void wait_until_equal();
  void start_writers(size_t master);
  void join_writers();
  void write(size_t master);
  static Task<void> write(ClusterWorkload* self, uint16_t port, int first_id);
  void note(int64_t id, const std::string& executed);
  Member& member(size_t number) { return *members_[number]; }

  const Shape shape_;
  std::vector<Site> sites_;
  commitd::testing::RecordingFileSystem::SharedClock clock_ = std::make_shared<std::atomic<size_t>>(0);
  std::vector<std::unique_ptr<commitd::testing::RecordingFileSystem>> disks_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::thread> writers_;
  std::vector<Uuid> uuids_;
  size_t master_ = 0, begins_ = 0;
  int next_id_ = 0;
  std::mutex mutex_;
  std::vector<Promise> promises_;
  std::vector<Seen> seen_;
};

// Throws what went wrong.
void demand(const Status& status, const std::string& what);
// Polls; throws after a long time.
void wait_for(const std::string& what, const std::function<bool()>& condition);

}  // namespace commitd::server::testing

// Concurrent writers, DDL and administration on a recorded file system, and what they were told when.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "base/testing/recording_file_system.h"
#include "gtid/gtid_set.h"
#include "server/testing/bare_server.h"

namespace commitd::server::testing {

inline constexpr int kAccounts = 20;
inline constexpr int64_t kBalance = 1000;  // of each account at first: transfers keep the sum

// From operation `step` on, a crash may take none of this away.
struct Promise {
  size_t step = 0;
  GtidSet executed;     // what the server said had been executed
  int64_t ledger = -1;  // id of a row in test.ledger; -1: none
};

struct CrashWorkload {
  commitd::testing::RecordingFileSystem files;
  std::vector<Promise> promises;      // in order of `step`
  std::vector<std::string> problems;  // statements that failed and should not have
  uint64_t final_digest = 0;          // of the engine, when everybody had finished

  struct Shape {
    int writers = 4;
    int transactions = 30;  // of each writer
    unsigned seed = 1;
    bool xa = false;
    bool order_commits = true;
    bool log_bin = true;
    bool lie_about_sync = false;
    bool lie_about_directory_syncs = false;
    BareServer::Wrap wrap = {};
  };
  // Makes the server and the tables, which no crash point touches, then runs and records.
  void run(const Shape& shape);
  const Shape& shape() const { return shape_; }

 private:
  class Writer;
  void prepare();
  void run_everybody(BareServer& server);
  void change_definitions(BareServer& server);
  void administrate(BareServer& server);
  void note(BareServer& server, int64_t ledger);
  void complain(std::string problem);
  bool execute(BareServer& server, sql::Session& session, const std::string& statement);

  std::mutex mutex_;
  std::atomic<int> committed_{0};
  std::atomic<int> writers_left_{0};
  Shape shape_;
};

}  // namespace commitd::server::testing

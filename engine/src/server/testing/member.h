// A whole server on a disk that remembers, driven as users and operators do it: by statements on a
// connection.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "base/testing/recording_file_system.h"
#include "base/uuid.h"
#include "gtid/gtid_set.h"
#include "server/server.h"
#include "wire/client.h"

namespace commitd::server::testing {

using Rows = std::vector<wire::Client::TextRow>;

// What is the same for every start of a member. The directory is made on the machine's disk, too: for the
// lock.
struct Site {
  int number = 1;
  std::string directory;
  uint16_t port = 0;

  std::string engine_directory() const { return directory + "/engine"; }
};
// Sites of a cluster below a new temporary directory.
std::vector<Site> new_sites(int count);
void remove_sites(const std::vector<Site>& sites);

class Member {
 public:
  Member(const Site& site, commitd::testing::RecordingFileSystem& disk) : site_(site), disk_(disk) {}
  ~Member() { stop(); }

  // Makes the data directory.
  Status create();
  // Undecided, as under an operator.
  Status start();
  void stop();
  bool runs() const { return server_ != nullptr; }

  Result<Rows> ask(const std::string& statement) const;
  // The only value of the answer; an error's message with "ERROR" in front.
  std::string value(const std::string& statement) const;

  struct State {
    Uuid uuid;
    uint64_t epoch = 0, last_log_epoch = 0;
    GtidSet logged, executed;
    bool writes_blocked = true;
    uint64_t ack_waiting = 0;
    std::string role, receiver_error;
  };
  Result<State> state() const;

  Status fence(uint64_t epoch) const;
  Status promote(uint64_t epoch, int wait_count, const std::vector<Uuid>& members) const;
  Status follow(uint64_t epoch, const Member& source, const Uuid& uuid) const;

  uint16_t port() const { return site_.port; }
  commitd::testing::RecordingFileSystem& disk() const { return disk_; }
  const Site& site() const { return site_; }

 private:
  std::unique_ptr<Server> make(bool only_initialize);

  const Site site_;
  commitd::testing::RecordingFileSystem& disk_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<Server> server_;
};

wire::ClientOptions client_of(uint16_t port);

// Of those that were reached and fenced: the one whose log has everything. Error 3002 when each has something
// that the others lack.
Result<size_t> elect(const std::vector<Member::State>& reached);

// By GTID, of all transactions in a log: what they do, whatever file they stand in.
std::map<Gtid, uint64_t> transactions_in(commitd::testing::RecordingFileSystem& disk, const Site& site);
// What a log holds, and the last epoch in it.
struct LogContent {
  GtidSet logged;
  uint64_t last_epoch = 0;
};
Result<LogContent> log_content(commitd::testing::RecordingFileSystem& disk, const Site& site);

}  // namespace commitd::server::testing

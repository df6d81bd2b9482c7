// Crashes a recorded cluster at any moment, brings it up again as an operator would, and says what is wrong.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "server/testing/cluster_workload.h"

namespace commitd::server::testing {

class ClusterJudge {
 public:
  explicit ClusterJudge(const ClusterWorkload& workload) : workload_(workload) {}

  struct Crash {
    size_t time = 0;
    commitd::testing::Loss loss[ClusterWorkload::kMembers];  // KeepAll: only the process ends
    size_t absent = 0;  // is not reached by the election, and comes back later
    unsigned seed = 0;
  };
  // Everybody loses power, or some do, by `seed`.
  static Crash crash_at(size_t time, unsigned seed);

  // The logs alone: what was acknowledged is in that of who would be elected.
  std::optional<std::string> lost_in_logs(const Crash& crash) const;
  // Elects, promotes, follows, writes, has the absent one come back, and compares everything. For every other
  // seed once more, after a second crash somewhere in that.
  std::optional<std::string> comes_up_wrong(const Crash& crash) const;

 private:
  class Revival;
  using Disks = std::vector<std::unique_ptr<commitd::testing::RecordingFileSystem>>;
  Disks disks_after(const Crash& crash) const;
  GtidSet promised_at(size_t time) const;
  std::set<int64_t> rows_promised_at(size_t time) const;

  const ClusterWorkload& workload_;
};

}  // namespace commitd::server::testing

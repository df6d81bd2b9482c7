#include "server/testing/cluster_judge.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace commitd::server::testing {

using commitd::testing::Loss;
using Violation = std::optional<std::string>;

constexpr size_t kMembers = ClusterWorkload::kMembers;

ClusterJudge::Crash ClusterJudge::crash_at(size_t time, unsigned seed) {
  std::mt19937 random(seed);
  Crash crash{time, {Loss::DropAll, Loss::DropAll, Loss::DropAll}, random() % kMembers, seed};
  if (seed % 4 == 0) return crash;
  for (Loss& loss : crash.loss) {
    constexpr Loss kAll[] = {Loss::KeepAll, Loss::DropAll, Loss::Random};
    loss = kAll[random() % std::size(kAll)];
  }
  return crash;
}

ClusterJudge::Disks ClusterJudge::disks_after(const Crash& crash) const {
  Disks disks;
  for (size_t i = 0; i < kMembers; ++i) {
    auto& disk = workload_.disk(i);
    disks.push_back(disk.after_crash(disk.steps_at(crash.time), crash.loss[i], crash.seed + i));
  }
  return disks;
}

GtidSet ClusterJudge::promised_at(size_t time) const {
  GtidSet promised;
  for (const auto& promise : workload_.promises()) {
    if (promise.time <= time) promised.add(promise.executed);
  }
  return promised;
}

Violation ClusterJudge::lost_in_logs(const Crash& crash) const {
  const Disks disks = disks_after(crash);
  std::vector<Member::State> reached;
  for (size_t i = 0; i < kMembers; ++i) {
    if (i == crash.absent) continue;
    auto content = log_content(*disks[i], workload_.site(i));
    if (!content.ok()) return "a log does not open: " + content.error().message;
    Member::State state;
    state.logged = content->logged;
    state.last_log_epoch = content->last_epoch;
    reached.push_back(std::move(state));
  }
  const auto elected = elect(reached);
  if (!elected.ok()) return elected.error().message;
  GtidSet lost = promised_at(crash.time);
  lost.subtract(reached[*elected].logged);
  if (lost.empty()) return std::nullopt;
  return "acknowledged and lost: " + lost.to_string();
}

// The members once more, on what their disks kept.
class ClusterJudge::Revival {
 public:
  Revival(const ClusterWorkload& workload, const Crash& crash, Disks disks, std::set<int64_t> promised)
      : workload_(workload), crash_(crash), disks_(std::move(disks)), promised_(std::move(promised)) {
    for (size_t i = 0; i < kMembers; ++i) {
      disks_[i]->keep_time_by(clock_);
      members_.push_back(std::make_unique<Member>(workload.site(i), *disks_[i]));
    }
    for (const auto& seen : workload.seen()) {
      if (seen.time <= crash.time) note_transactions(seen.transactions);
    }
  }

  // Throws what is wrong.
  void run() {
    std::vector<size_t> reached;
    for (size_t i = 0; i < kMembers; ++i) {
      if (i == crash_.absent) continue;
      start(i);
      reached.push_back(i);
    }
    elect_and_promote(reached);
    check_data();
    commit_one_more();
    start(crash_.absent);
    reached.push_back(crash_.absent);
    // Whoever has promised a higher epoch listens to none below: as an operator does, another one is claimed.
    if (states_[crash_.absent].epoch > epoch_)
      elect_and_promote(reached);
    else
      follow(crash_.absent);
    wait_for("all have executed the same", [this] { return are_equal(); });
    for (size_t i = 0; i < kMembers; ++i) {
      note_transactions(transactions_in(*disks_[i], workload_.site(i)));
      if (content_of(i) != content_of(master_)) throw std::runtime_error("the members' rows differ");
    }
  }

  // Crashed once more, at any moment of all that: what must be there then, and what the disks have.
  std::pair<Disks, std::set<int64_t>> crash_again(const Crash& again) {
    members_.clear();
    const size_t time = again.seed % (*clock_ + 1);
    Disks disks;
    for (size_t i = 0; i < kMembers; ++i)
      disks.push_back(disks_[i]->after_crash(disks_[i]->steps_at(time), again.loss[i], again.seed + i));
    if (committed_at_ > time) promised_.erase(own_id_);
    return {std::move(disks), promised_};
  }

 private:
  Member& member(size_t i) { return *members_[i]; }

  void start(size_t i) {
    demand(member(i).start(), fmt::format("member {} does not start", i));
    states_[i] = *member(i).state();
    note_transactions(transactions_in(*disks_[i], workload_.site(i)));
  }

  void elect_and_promote(const std::vector<size_t>& reached) {
    for (const size_t i : reached) epoch_ = std::max(epoch_, states_[i].epoch + 1);
    std::vector<Member::State> fenced;
    for (const size_t i : reached) {
      demand(member(i).fence(epoch_), "fence");
      fenced.push_back(*member(i).state());
    }
    const auto elected = elect(fenced);
    demand(elected.ok() ? Status{} : elected.error(), "elect");
    master_ = reached[*elected];
    std::vector<Uuid> others;
    for (size_t i = 0; i < kMembers; ++i) {
      if (i != master_) others.push_back(uuid_of(i));
    }
    demand(member(master_).promote(epoch_, 1, others), "promote");
    for (const size_t i : reached) {
      if (i != master_) follow(i);
    }
    wait_for("the master takes writes", [this] { return !member(master_).state()->writes_blocked; });
  }

  void follow(size_t i) {
    demand(member(i).follow(epoch_, member(master_), states_[master_].uuid), "follow");
  }

  void commit_one_more() {
    own_id_ = -1 - static_cast<int64_t>(crash_.seed);
    auto done = member(master_).ask(fmt::format("INSERT INTO test.ledger VALUES ({}, 0)", own_id_));
    demand(done.ok() ? Status{} : done.error(), "a commit behind the crash");
    committed_at_ = *clock_;
    promised_.insert(own_id_);
  }

  // The absent one's is in its data directory.
  Uuid uuid_of(size_t i) {
    if (!states_[i].uuid.is_nil()) return states_[i].uuid;
    const std::string file = disks_[i]->content(workload_.site(i).directory + "/auto.cnf");
    return *Uuid::parse(std::string_view(file).substr(file.find("server-uuid=") + 12, 36));
  }

  bool are_equal() {
    const auto master = member(master_).state();
    for (size_t i = 0; i < kMembers; ++i) {
      const auto state = member(i).state();
      if (!state.ok() || state->role == "fenced")
        throw std::runtime_error(
            fmt::format("member {} cannot follow: {}", i, state.ok() ? state->receiver_error : ""));
      if (state->executed != master->executed) return false;
    }
    return true;
  }

  void check_data() {
    const auto rows = member(master_).ask("SELECT id FROM test.ledger");
    if (!rows.ok()) throw std::runtime_error(rows.error().message);
    std::set<int64_t> ids;
    for (const auto& row : *rows) {
      if (!ids.insert(std::stoll(*row[0])).second) throw std::runtime_error("twice: " + *row[0]);
    }
    for (const int64_t id : promised_) {
      if (!ids.contains(id)) throw std::runtime_error(fmt::format("acknowledged and lost: {}", id));
    }
    const std::string sum = member(master_).value("SELECT SUM(balance) FROM test.account");
    if (sum != std::to_string(ClusterWorkload::kAccounts * ClusterWorkload::kBalance))
      throw std::runtime_error("a transfer is half there: " + sum);
  }

  Rows content_of(size_t i) {
    Rows all;
    for (const char* table : {"test.account", "test.ledger"}) {
      const auto rows = member(i).ask(fmt::format("SELECT * FROM {} ORDER BY id", table));
      if (!rows.ok()) throw std::runtime_error(rows.error().message);
      all.insert(all.end(), rows->begin(), rows->end());
    }
    return all;
  }

  void note_transactions(const std::map<Gtid, uint64_t>& transactions) {
    for (const auto& [gtid, digest] : transactions) {
      const auto [known, is_new] = named_.emplace(gtid, digest);
      if (!is_new && known->second != digest)
        throw std::runtime_error(gtid.to_string() + " names two transactions");
    }
  }

  const ClusterWorkload& workload_;
  const Crash crash_;
  const Disks disks_;
  std::set<int64_t> promised_;  // rows of test.ledger
  commitd::testing::RecordingFileSystem::SharedClock clock_ = std::make_shared<std::atomic<size_t>>(0);
  size_t committed_at_ = 0;
  int64_t own_id_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
  std::map<size_t, Member::State> states_;  // as they came up
  std::map<Gtid, uint64_t> named_;
  uint64_t epoch_ = 0;
  size_t master_ = 0;
};

std::set<int64_t> ClusterJudge::rows_promised_at(size_t time) const {
  std::set<int64_t> rows;
  for (const auto& promise : workload_.promises()) {
    if (promise.time <= time) rows.insert(promise.id);
  }
  return rows;
}

Violation ClusterJudge::comes_up_wrong(const Crash& crash) const {
  try {
    Revival first(workload_, crash, disks_after(crash), rows_promised_at(crash.time));
    first.run();
    if (crash.seed % 2 != 0) return std::nullopt;
    const Crash again = crash_at(crash.time, crash.seed * 31 + 7);
    auto [disks, promised] = first.crash_again(again);
    Revival(workload_, again, std::move(disks), std::move(promised)).run();
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return std::nullopt;
}

}  // namespace commitd::server::testing

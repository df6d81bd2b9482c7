#include "server/testing/cluster_workload.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/reactor.h"

namespace commitd::server::testing {

using commitd::testing::RecordingFileSystem;

void demand(const Status& status, const std::string& what) {
  if (!status.ok()) throw std::runtime_error(what + ": " + status.error().message);
}

void wait_for(const std::string& what, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("does not happen: " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Without servers the writers end.
ClusterWorkload::~ClusterWorkload() {
  members_.clear();
  join_writers();
  remove_sites(sites_);
}

void ClusterWorkload::run() {
  make_members();
  begin();
  write(master_);
  one_replica_is_away();
  the_master_is_lost_with_a_tail();
  write(master_);
  it_comes_back();
  mastership_is_handed_over();
  members_.clear();
  std::sort(promises_.begin(), promises_.end(),
            [](const Promise& a, const Promise& b) { return a.time < b.time; });
}

void ClusterWorkload::make_members() {
  sites_ = new_sites(kMembers);
  for (size_t i = 0; i < kMembers; ++i) {
    disks_.push_back(std::make_unique<RecordingFileSystem>());
    members_.push_back(std::make_unique<Member>(sites_[i], disk(i)));
    demand(member(i).create(), "create");
    demand(member(i).start(), "start");
    uuids_.push_back(member(i).state()->uuid);
  }
}

void ClusterWorkload::promote(size_t master, uint64_t epoch) {
  std::vector<Uuid> others;
  for (size_t i = 0; i < kMembers; ++i) {
    if (i != master) others.push_back(uuids_[i]);
  }
  demand(member(master).promote(epoch, 1, others), "promote");
  master_ = master;
  for (size_t i = 0; i < kMembers; ++i) {
    if (i != master && member(i).runs())
      demand(member(i).follow(epoch, member(master), uuids_[master]), "follow");
  }
  wait_for("the master takes writes", [this] { return !member(master_).state()->writes_blocked; });
}

void ClusterWorkload::begin() {
  promote(0, 1);
  for (const char* statement :
       {"CREATE DATABASE test", "CREATE TABLE test.account (id INT PRIMARY KEY, balance INT NOT NULL)",
        // Without a key: what is applied twice stands there twice.
        "CREATE TABLE test.ledger (id INT, writer INT, KEY (id))"})
    demand(member(0).ask(statement).ok() ? Status{} : make_error(1, "refused"), statement);
  for (int id = 0; id < kAccounts; ++id)
    (void)member(0).ask(fmt::format("INSERT INTO test.account VALUES ({}, {})", id, kBalance));
  wait_until_equal();
  for (auto& disk : disks_) {
    disk->start_recording();
    disk->keep_time_by(clock_);
  }
  begins_ = *clock_;
  if (shape_.faulty >= kMembers) return;
  disk(shape_.faulty).lie_about_sync(shape_.lies_about_syncs);
  disk(shape_.faulty).sync_late(shape_.syncs_late);
}

void ClusterWorkload::wait_until_equal() {
  wait_for("all members have executed the same", [this] {
    const GtidSet executed = member(master_).state()->executed;
    return std::all_of(members_.begin(), members_.end(),
                       [&](const auto& one) { return !one->runs() || one->state()->executed == executed; });
  });
}

void ClusterWorkload::start_writers(size_t master) {
  for (int writer = 0; writer < shape_.writers; ++writer) {
    const int first_id = next_id_ += 1000;
    writers_.emplace_back(
        [this, port = member(master).port(), first_id] { run_blocking(write(this, port, first_id)); });
  }
}

void ClusterWorkload::join_writers() {
  for (auto& writer : writers_) writer.join();
  writers_.clear();
}

void ClusterWorkload::write(size_t master) {
  start_writers(master);
  join_writers();
}

// Ends at the first thing that fails: the master has gone.
Task<void> ClusterWorkload::write(ClusterWorkload* self, uint16_t port, int first_id) {
  constexpr auto kPatience = std::chrono::seconds(60);
  auto client = co_await wire::Client::connect(client_of(port));
  if (!client.ok()) co_return;
  for (int id = first_id; id < first_id + self->shape_.transactions; ++id) {
    const int from = id % (kAccounts - 1), to = from + 1;  // ascending: no deadlocks
    for (const std::string& statement :
         {std::string("BEGIN"), fmt::format("INSERT INTO test.ledger VALUES ({}, {})", id, first_id),
          fmt::format("UPDATE test.account SET balance = balance - 3 WHERE id = {}", from),
          fmt::format("UPDATE test.account SET balance = balance + 3 WHERE id = {}", to),
          std::string("COMMIT")}) {
      auto done = co_await (*client)->query(statement, Clock::now() + kPatience);
      if (!done.ok()) co_return;
    }
    auto executed = co_await (*client)->query("SELECT @@global.gtid_executed", Clock::now() + kPatience);
    if (!executed.ok()) co_return;
    self->note(id, executed->front().front().value_or(""));
  }
}

void ClusterWorkload::note(int64_t id, const std::string& executed) {
  const size_t time = *clock_;  // behind the answer: what was answered counts from here on
  std::lock_guard lock(mutex_);
  promises_.push_back({time, *GtidSet::parse(executed), id});
}

void ClusterWorkload::one_replica_is_away() {
  const size_t away = 2;
  member(away).stop();
  write(master_);
  demand(member(away).start(), "start");
  demand(member(away).follow(1, member(master_), uuids_[master_]), "follow");
  wait_until_equal();
}

void ClusterWorkload::the_master_is_lost_with_a_tail() {
  const size_t lost = master_;
  for (size_t i = 0; i < kMembers; ++i) {
    if (i != lost) member(i).stop();
  }
  start_writers(lost);
  // The others wait for the same rows.
  wait_for("a commit waits for acknowledgements", [&] { return member(lost).state()->ack_waiting > 0; });
  member(lost).stop();
  join_writers();

  std::vector<size_t> reached;
  std::vector<Member::State> states;
  for (size_t i = 0; i < kMembers; ++i) {
    if (i == lost) continue;
    demand(member(i).start(), "start");
    demand(member(i).fence(2), "fence");
    reached.push_back(i);
    states.push_back(*member(i).state());
  }
  const auto elected = elect(states);
  demand(elected.ok() ? Status{} : elected.error(), "elect");
  promote(reached[*elected], 2);
}

void ClusterWorkload::it_comes_back() {
  for (size_t i = 0; i < kMembers; ++i) {
    if (member(i).runs()) continue;
    demand(member(i).start(), "start");
    seen_.push_back({*clock_, transactions_in(disk(i), site(i))});
    demand(member(i).follow(2, member(master_), uuids_[master_]), "follow");
  }
  write(master_);
  wait_until_equal();
}

void ClusterWorkload::mastership_is_handed_over() {
  const size_t next = (master_ + 1) % kMembers;
  start_writers(master_);
  for (size_t i = 0; i < kMembers; ++i) demand(member(i).fence(3), "fence");
  join_writers();
  std::vector<Member::State> states;
  for (size_t i = 0; i < kMembers; ++i) states.push_back(*member(i).state());
  const auto elected = elect(states);
  demand(elected.ok() ? Status{} : elected.error(), "elect");
  promote(states[next].logged == states[*elected].logged ? next : *elected, 3);
  write(master_);
  wait_until_equal();
}

}  // namespace commitd::server::testing

// An engine that keeps what it was given in a list, and an applier that reads rows back out of events: what
// the pipeline needs around it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "binlog/events.h"
#include "commit/commit_pipeline.h"
#include "storage/engine.h"
#include "storage/write_set_codec.h"

namespace commitd::binlog::testing {

class FakeEngine final : public storage::Engine {
 public:
  struct State {
    storage::CommitPoint point;
    std::vector<std::string> keys;  // of every transaction, in the order they came
    std::vector<size_t> batch_sizes;
    std::map<Gtid, std::string> prepared;  // with a log of its own
  };
  FakeEngine() = default;
  explicit FakeEngine(State state) : state_(std::move(state)) {}

  Status commit_ordered(std::span<WriteSet* const> transactions, const storage::CommitStep& step) override {
    std::unique_lock lock(mutex_);
    unblocked_.wait(lock, [this] { return !blocked_; });
    if (failing_) return make_error(er::kErrorOnWrite, "The engine failed");
    COMMITD_RETURN_IF_ERROR(room());
    COMMITD_RETURN_IF_ERROR(room_for(Step::Commit));
    for (const WriteSet* writes : transactions) {
      for (const auto& [key, entry] : writes->entries()) state_.keys.push_back(key);
    }
    state_.batch_sizes.push_back(transactions.size());
    if (step.replaces) state_.point.executed = {};
    static_cast<storage::EnginePlace&>(state_.point) = step;
    state_.point.executed.add(step.added);
    std::erase_if(state_.prepared, [&](const auto& one) { return step.added.contains(one.first); });
    if (on_commit) on_commit(state_);
    return {};
  }
  // It has room again, and does not go on.
  std::atomic<bool> is_stuck{false};
  Status room() const override {
    return is_stuck ? Status(make_error(er::kErrorOnWrite, "The engine does not go on")) : Status{};
  }
  // As an engine whose own log is synced at once. `on_commit` hears of every change.
  bool own_log = false;  // set before use
  bool has_own_log() const override { return own_log; }
  std::string prepare(const WriteSet& writes) override { return encode_write_set(writes); }
  Status prepare_ordered(std::span<const storage::PreparedTransaction> group) override {
    std::lock_guard lock(mutex_);
    COMMITD_RETURN_IF_ERROR(room_for(Step::Prepare));
    for (const auto& transaction : group) state_.prepared[transaction.gtid] = transaction.record;
    if (on_commit) on_commit(state_);
    return {};
  }
  Status commit() override {
    std::lock_guard lock(mutex_);
    return room_for(Step::MakeDurable);
  }
  // A step finds no room, until there is some. Nobody is told beforehand.
  enum class Step : uint8_t { Prepare, Commit, MakeDurable };
  void lack_room_for(Step step) {
    std::lock_guard lock(mutex_);
    without_room_ = step;
  }
  int steps_without_room() const {
    std::lock_guard lock(mutex_);
    return steps_without_room_;
  }
  void have_room() {
    std::function<void()> tell;
    {
      std::lock_guard lock(mutex_);
      without_room_.reset();
      tell = on_room_;
    }
    tell();
  }
  void on_room(const std::function<void()>& callback) override {
    std::lock_guard lock(mutex_);
    on_room_ = callback;
  }
  Status rollback(std::span<const Gtid> transactions) override {
    std::lock_guard lock(mutex_);
    for (const Gtid& gtid : transactions) state_.prepared.erase(gtid);
    return {};
  }
  std::vector<Gtid> recover() override {
    std::lock_guard lock(mutex_);
    std::vector<Gtid> all;
    for (const auto& [gtid, record] : state_.prepared) all.push_back(gtid);
    return all;
  }
  Result<std::optional<WriteSet>> prepared_writes(const Gtid& gtid) override {
    std::lock_guard lock(mutex_);
    const auto found = state_.prepared.find(gtid);
    if (found == state_.prepared.end()) return std::optional<WriteSet>();
    return std::optional(*decode_write_set(found->second));
  }

  void before_persisting(const std::function<Status()>& sync) override {
    std::lock_guard lock(mutex_);
    sync_binlog_ = sync;
  }
  // What would be there after a crash from now on.
  State persist() {
    std::function<Status()> sync;
    State state;
    {
      std::lock_guard lock(mutex_);
      sync = sync_binlog_;
      state = state_;
    }
    EXPECT_TRUE(sync().ok());
    return state;
  }
  std::function<void(const State&)> on_commit;  // set before use
  storage::CommitPoint commit_point() const override {
    std::lock_guard lock(mutex_);
    return state_.point;
  }
  LogPosition replay_position() const override { return commit_point().position; }
  bool has_executed(const Gtid& gtid) const override { return commit_point().executed.contains(gtid); }
  LogPosition flushed_position() const override { return replay_position(); }

  State state() const {
    std::lock_guard lock(mutex_);
    return state_;
  }
  void block(bool on) {
    std::lock_guard lock(mutex_);
    blocked_ = on;
    unblocked_.notify_all();
  }
  void fail(bool on) {
    std::lock_guard lock(mutex_);
    failing_ = on;
  }

  storage::SnapshotPtr snapshot() override { return nullptr; }
  Result<bool> get(const storage::Snapshot*, std::string_view, std::string&) override { return false; }
  std::unique_ptr<storage::Iterator> iterate(storage::SnapshotPtr, std::string, std::string) override {
    return nullptr;
  }
  Status checkpoint() override { return {}; }
  Result<storage::CommitPoint> backup_to(const std::string&) override { return commit_point(); }
  Result<uint64_t> next_auto_increment(uint64_t, uint64_t, uint64_t at_least) override { return at_least; }
  uint64_t peek_auto_increment(uint64_t) override { return 1; }
  Sizes sizes() const override { return {}; }

 private:
  Status room_for(Step step) {
    if (without_room_ != step) return {};
    ++steps_without_room_;
    return make_error(er::kDiskFull, "Disk full");
  }

  mutable std::mutex mutex_;
  std::condition_variable unblocked_;
  State state_;
  std::optional<Step> without_room_;
  int steps_without_room_ = 0;
  std::function<void()> on_room_;
  std::function<Status()> sync_binlog_;
  bool blocked_ = false, failing_ = false;
};

// A row becomes a key; a statement is exclusive and becomes a key too.
class FakeApplier final : public EventApplier {
 public:
  Result<Outcome> build(std::string_view events, How how, WriteSet& writes) override {
    if (how.compare && rows_conflict && !how.alone && unstored_++ > 0) {
      ++came_too_early;
      return Outcome{nullptr, true};
    }
    return read(events, how.alone, writes);
  }
  void build_ahead(std::string_view events, bool compare, Ahead& into) const override {
    into.compared = compare;
    if (on_ahead) on_ahead();
    auto outcome = read(events, false, into.writes);
    into.complete = outcome.ok() && !outcome->exclusive && !(compare && rows_conflict);
  }
  bool take(const Ahead& ahead) override {
    if (!ahead.complete || (spoils && spoils())) return false;
    ++taken_ahead;
    return true;
  }

  void all_is_stored() override { unstored_ = 0; }
  void stored_up_to(uint64_t) override { unstored_ = 0; }
  // Set before use: what happens while something is made ahead, and whether it was in vain.
  std::function<void()> on_ahead;
  std::function<bool()> spoils;
  std::atomic<int> taken_ahead{0};
  // Set before use: every received transaction changes the row that the one in front of it has changed.
  bool rows_conflict = false;
  std::atomic<int> came_too_early{0};
  // The row that cannot be inserted; "": none.
  void refuse(std::string row) {
    std::lock_guard lock(mutex_);
    refused_ = std::move(row);
  }

 private:
  Result<Outcome> read(std::string_view events, bool alone, WriteSet& writes) const {
    while (!events.empty()) {
      auto event = parse_event(events);
      if (!event) return std::move(event).error();
      events.remove_prefix(event->bytes.size());
      if (event->header.type == EventType::WriteRows) {
        std::string row(parse_rows_event(*event, true)->rows);
        std::lock_guard lock(mutex_);
        if (row == refused_) return make_error(er::kDupEntry, "Duplicate entry");
        writes.put(std::move(row), "");
      }
      if (event->header.type != EventType::Query) continue;
      auto query = parse_query_event(*event, true);
      if (query->sql == "BEGIN") continue;
      if (!alone) return Outcome{nullptr, true};
      writes.put(query->sql, "");
    }
    return Outcome{};
  }

  mutable std::mutex mutex_;
  std::string refused_;
  std::atomic<int> unstored_ = 0;
};

}  // namespace commitd::binlog::testing

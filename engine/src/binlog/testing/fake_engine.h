// An engine that keeps what it was given in a list, and an applier that reads rows back out of events: what
// the pipeline needs around it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/error_codes.h"
#include "binlog/commit_pipeline.h"
#include "binlog/events.h"
#include "storage/engine.h"

namespace commitd::binlog::testing {

class FakeEngine final : public storage::Engine {
 public:
  struct State {
    storage::CommitPoint point;
    std::vector<std::string> keys;  // of every transaction, in the order they came
    std::vector<size_t> batch_sizes;
  };
  FakeEngine() = default;
  explicit FakeEngine(State state) : state_(std::move(state)) {}

  Status commit_ordered(std::span<WriteSet* const> transactions, const storage::CommitPoint& point) override {
    std::unique_lock lock(mutex_);
    unblocked_.wait(lock, [this] { return !blocked_; });
    if (failing_) return make_error(er::kErrorOnWrite, "The engine failed");
    for (const WriteSet* writes : transactions) {
      for (const auto& [key, entry] : writes->entries()) state_.keys.push_back(key);
    }
    state_.batch_sizes.push_back(transactions.size());
    state_.point = point;
    if (on_commit) on_commit(state_);
    return {};
  }
  std::function<void(const State&)> on_commit;  // set before use
  storage::CommitPoint replay_position() const override {
    std::lock_guard lock(mutex_);
    return state_.point;
  }
  storage::CommitPoint flushed_position() const override { return replay_position(); }

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
  Result<storage::CommitPoint> backup_to(const std::string&) override { return replay_position(); }
  Result<uint64_t> next_auto_increment(uint64_t, uint64_t, uint64_t at_least) override { return at_least; }
  uint64_t peek_auto_increment(uint64_t) override { return 1; }
  Sizes sizes() const override { return {}; }

 private:
  mutable std::mutex mutex_;
  std::condition_variable unblocked_;
  State state_;
  bool blocked_ = false, failing_ = false;
};

// A row becomes a key; a statement is exclusive and becomes a key too.
class FakeApplier final : public EventApplier {
 public:
  Result<Outcome> build(std::string_view events, bool alone, WriteSet& writes) override {
    while (!events.empty()) {
      auto event = parse_event(events);
      if (!event) return std::move(event).error();
      events.remove_prefix(event->bytes.size());
      if (event->header.type == EventType::WriteRows)
        writes.put(std::string(parse_rows_event(*event, true)->rows), "");
      if (event->header.type != EventType::Query) continue;
      auto query = parse_query_event(*event, true);
      if (query->sql == "BEGIN") continue;
      if (!alone) return Outcome{nullptr, true};
      writes.put(query->sql, "");
    }
    return Outcome{};
  }
};

}  // namespace commitd::binlog::testing

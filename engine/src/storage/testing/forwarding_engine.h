// For tests that change one thing of an engine: everything goes on to the one inside.
#pragma once

#include <memory>
#include <utility>

#include "storage/engine.h"

namespace commitd::storage::testing {

class ForwardingEngine : public Engine {
 public:
  explicit ForwardingEngine(std::unique_ptr<Engine> inner) : inner_(std::move(inner)) {}
  Engine& inner() { return *inner_; }

  SnapshotPtr snapshot() override { return inner_->snapshot(); }
  Result<bool> get(const Snapshot* snapshot, std::string_view key, std::string& value) override {
    return inner_->get(snapshot, key, value);
  }
  std::unique_ptr<Iterator> iterate(SnapshotPtr snapshot, std::string lower, std::string upper) override {
    return inner_->iterate(std::move(snapshot), std::move(lower), std::move(upper));
  }
  Status commit_ordered(std::span<WriteSet* const> transactions, const CommitStep& step) override {
    return inner_->commit_ordered(transactions, step);
  }
  UnnamedIndexes* unnamed_indexes() override { return inner_->unnamed_indexes(); }
  bool has_own_log() const override { return inner_->has_own_log(); }
  std::string prepare(const WriteSet& writes) override { return inner_->prepare(writes); }
  Status prepare_ordered(std::span<const PreparedTransaction> transactions) override {
    return inner_->prepare_ordered(transactions);
  }
  Status commit() override { return inner_->commit(); }
  Status rollback(std::span<const Gtid> gtids) override { return inner_->rollback(gtids); }
  std::vector<Gtid> recover() override { return inner_->recover(); }
  Result<std::optional<WriteSet>> prepared_writes(const Gtid& gtid) override {
    return inner_->prepared_writes(gtid);
  }
  void before_persisting(const std::function<Status()>& sync) override { inner_->before_persisting(sync); }
  CommitPoint commit_point() const override { return inner_->commit_point(); }
  LogPosition replay_position() const override { return inner_->replay_position(); }
  bool has_executed(const Gtid& gtid) const override { return inner_->has_executed(gtid); }
  LogPosition flushed_position() const override { return inner_->flushed_position(); }
  Status checkpoint() override { return inner_->checkpoint(); }
  Result<CommitPoint> backup_to(const std::string& directory) override {
    return inner_->backup_to(directory);
  }
  Result<uint64_t> next_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) override {
    return inner_->next_auto_increment(table_id, count, at_least);
  }
  uint64_t peek_auto_increment(uint64_t table_id) override { return inner_->peek_auto_increment(table_id); }
  Sizes sizes() const override { return inner_->sizes(); }

 private:
  std::unique_ptr<Engine> inner_;
};

}  // namespace commitd::storage::testing

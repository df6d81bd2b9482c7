// Several engines as one: each key belongs to the engine that its table is in (table_engines.h). What is
// durable (catalog, counters, log position, rows of ROCKS tables) is in one engine, whose order and position
// hold for all; tables in memory, and those on other servers, are beside it.
#pragma once

#include <map>
#include <memory>

#include "storage/engine.h"
#include "storage/federated/federated_tables.h"
#include "storage/gtid_storage.h"
#include "storage/memory/memory_tables.h"
#include "storage/purging.h"

namespace commitd::storage {

class EngineRouter final : public Engine {
 public:
  explicit EngineRouter(std::unique_ptr<Engine> durable) : durable_(std::move(durable)) {}

  // Until its start() what recovery repeats for them is dropped.
  MemoryTables& memory() { return memory_; }
  FederatedTables& federated() { return federated_; }
  Purging* purging() { return purging_of(*durable_); }
  GtidStorage* gtid_storage() { return gtid_storage_of(*durable_); }

  SnapshotPtr snapshot() override { return durable_->snapshot(); }
  Result<bool> get(const Snapshot* snapshot, std::string_view key, std::string& value) override;
  std::unique_ptr<Iterator> iterate(SnapshotPtr snapshot, std::string lower, std::string upper) override;

  Status commit_ordered(std::span<WriteSet* const> transactions, const CommitStep& step) override;

  UnnamedIndexes* unnamed_indexes() override { return durable_->unnamed_indexes(); }

  Status room() const override { return durable_->room(); }
  void on_room(const std::function<void()>& callback) override { durable_->on_room(callback); }

  bool has_own_log() const override { return durable_->has_own_log(); }
  std::string prepare(const WriteSet& writes) override;
  Status prepare_ordered(std::span<const PreparedTransaction> group) override {
    return durable_->prepare_ordered(group);
  }
  Status commit() override { return durable_->commit(); }
  Status rollback(std::span<const Gtid> gtids) override { return durable_->rollback(gtids); }
  std::vector<Gtid> recover() override { return durable_->recover(); }
  Result<std::optional<WriteSet>> prepared_writes(const Gtid& gtid) override {
    return durable_->prepared_writes(gtid);
  }
  void before_persisting(const std::function<Status()>& sync) override { durable_->before_persisting(sync); }

  CommitPoint commit_point() const override { return durable_->commit_point(); }
  LogPosition replay_position() const override { return durable_->replay_position(); }
  bool has_executed(const Gtid& gtid) const override { return durable_->has_executed(gtid); }
  LogPosition flushed_position() const override { return durable_->flushed_position(); }
  Status checkpoint() override { return durable_->checkpoint(); }
  Result<CommitPoint> backup_to(const std::string& directory) override {
    return durable_->backup_to(directory);
  }

  Result<uint64_t> next_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) override {
    return durable_->next_auto_increment(table_id, count, at_least);
  }
  uint64_t peek_auto_increment(uint64_t table_id) override { return durable_->peek_auto_increment(table_id); }
  Task<void> close_connection(ConnectionData& data) override { return federated_.close(data); }
  Sizes sizes() const override { return durable_->sizes(); }

 private:
  class RowIds;
  Status take_into_memory(const WriteSet& writes, const RowIds& row_ids);

  std::unique_ptr<Engine> durable_;
  MemoryTables memory_;
  FederatedTables federated_;
};

// Those of an engine that has them; nullptr when it has none.
MemoryTables* tables_in_memory(Engine& engine);
FederatedTables* federated_tables(Engine& engine);

}  // namespace commitd::storage

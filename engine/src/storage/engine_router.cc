#include "storage/engine_router.h"

#include <algorithm>
#include <deque>

#include "base/packed_int.h"
#include "storage/final_entries.h"
#include "storage/rocks/counters.h"
#include "storage/table_engines.h"

namespace commitd::storage {
namespace {

bool touches_memory(const WriteSet& writes) {
  if (!writes.entries().empty() && engine_of_key(writes.entries().rbegin()->first).in_memory) return true;
  return std::any_of(writes.erased_ranges().begin(), writes.erased_ranges().end(),
                     [](const auto& range) { return engine_of_key(range.first).in_memory; });
}

// What stays for the durable engine: its own keys, and the counters of all tables.
Result<WriteSet> durable_part(const WriteSet& writes) {
  WriteSet rest = WriteSet::without_undo();
  for (const auto& [begin, end] : writes.erased_ranges()) {
    if (!engine_of_key(begin).in_memory) rest.erase_range(begin, end);
  }
  for (const auto& [key, entry] : writes.entries()) {
    if (engine_of_key(key).in_memory) break;
    if (entry.value) {
      std::string value;
      COMMITD_RETURN_IF_ERROR(writes.read_value(entry, value));
      rest.put(key, std::move(value), entry.row_id, entry.table_id);
    } else {
      rest.erase(key, entry.row_id, entry.table_id);
    }
  }
  for (const auto& [table, count] : writes.provisional_counts()) {
    for (uint64_t i = 0; i < count; ++i) rest.new_provisional_row_id(table);
  }
  for (const auto& [table, next] : writes.auto_increments()) rest.raise_auto_increment(table, next);
  for (const auto& [table, next] : writes.restarted_auto_increments())
    rest.restart_auto_increment(table, next);
  return rest;
}

}  // namespace

// The hidden row ids of one batch of transactions. The durable engine keeps the counters of all tables, so
// that all members of a cluster give the same ids whenever each of them was restarted.
class EngineRouter::RowIds {
 public:
  explicit RowIds(Engine& durable) : durable_(durable) {}

  Status load(const WriteSet& writes) {
    for (const auto& [table, count] : writes.provisional_counts()) {
      if (next_.contains(table)) continue;
      std::string counter;
      const auto known = durable_.get(nullptr, row_id_key(table), counter);
      if (!known) return known.error();
      next_[table] = *known ? load_be(counter.data(), 8) : 1;
    }
    return {};
  }
  uint64_t first(uint64_t table) const { return next_.at(table); }
  void pass(const WriteSet& writes) {
    for (const auto& [table, count] : writes.provisional_counts()) next_[table] += count;
  }

 private:
  Engine& durable_;
  std::map<uint64_t, uint64_t> next_;
};

Result<bool> EngineRouter::get(const Snapshot* snapshot, std::string_view key, std::string& value) {
  if (engine_of_key(key).in_memory) return memory_.get(key, value);
  return durable_->get(snapshot, key, value);
}

std::unique_ptr<Iterator> EngineRouter::iterate(SnapshotPtr snapshot, std::string lower, std::string upper) {
  if (engine_of_key(lower).in_memory) return memory_.iterate(std::move(lower), std::move(upper));
  return durable_->iterate(std::move(snapshot), std::move(lower), std::move(upper));
}

Status EngineRouter::commit_ordered(std::span<WriteSet* const> transactions, const CommitStep& step) {
  const bool any =
      std::any_of(transactions.begin(), transactions.end(), [](const auto* w) { return touches_memory(*w); });
  if (!any) return durable_->commit_ordered(transactions, step);
  RowIds row_ids(*durable_);
  std::deque<WriteSet> rests;
  std::vector<WriteSet*> durable(transactions.begin(), transactions.end());
  for (WriteSet*& writes : durable) {
    COMMITD_RETURN_IF_ERROR(row_ids.load(*writes));
    const WriteSet& whole = *writes;
    if (touches_memory(whole)) {
      COMMITD_RETURN_IF_ERROR(take_into_memory(whole, row_ids));
      auto rest = durable_part(whole);
      if (!rest) return std::move(rest).error();
      writes = &rests.emplace_back(std::move(*rest));
    }
    row_ids.pass(whole);
  }
  return durable_->commit_ordered(durable, step);
}

Status EngineRouter::take_into_memory(const WriteSet& writes, const RowIds& row_ids) {
  WriteSet changes = WriteSet::without_undo();
  for (const auto& [begin, end] : writes.erased_ranges()) {
    if (engine_of_key(begin).in_memory) changes.erase_range(begin, end);
  }
  const auto& entries = writes.entries();
  for (auto at = entries.lower_bound(first_key_in_memory()); at != entries.end(); ++at) {
    COMMITD_RETURN_IF_ERROR(apply_entry(
        writes, at->first, at->second, [&](uint64_t table) { return row_ids.first(table); },
        [&](std::string_view key, std::string_view value) {
          changes.put(std::string(key), std::string(value));
        },
        [&](std::string_view key) { changes.erase(std::string(key)); }));
  }
  memory_.apply(changes);
  return {};
}

// What is only in memory has nothing to be prepared.
std::string EngineRouter::prepare(const WriteSet& writes) {
  const bool durable = !writes.entries().empty() && !engine_of_key(writes.entries().begin()->first).in_memory;
  return durable || !touches_memory(writes) ? durable_->prepare(writes) : std::string();
}

MemoryTables* tables_in_memory(Engine& engine) {
  auto* router = dynamic_cast<EngineRouter*>(&engine);
  return router == nullptr ? nullptr : &router->memory();
}

Purging* purging_of(Engine& engine) {
  auto* router = dynamic_cast<EngineRouter*>(&engine);
  return router == nullptr ? dynamic_cast<Purging*>(&engine) : router->purging();
}

GtidStorage* gtid_storage_of(Engine& engine) {
  auto* router = dynamic_cast<EngineRouter*>(&engine);
  return router == nullptr ? dynamic_cast<GtidStorage*>(&engine) : router->gtid_storage();
}

std::shared_ptr<const GtidSettings> gtid_settings_of(Engine& engine) {
  GtidStorage* storage = gtid_storage_of(engine);
  return storage == nullptr ? std::make_shared<const GtidSettings>() : storage->gtid_settings();
}

FederatedTables* federated_tables(Engine& engine) {
  auto* router = dynamic_cast<EngineRouter*>(&engine);
  return router == nullptr ? nullptr : &router->federated();
}

}  // namespace commitd::storage

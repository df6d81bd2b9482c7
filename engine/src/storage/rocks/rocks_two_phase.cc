// The engine with a log of its own (commitd_durability=xa): from prepare to commit or rollback.
#include <rocksdb/write_batch.h>

#include "storage/rocks/rocks_engine.h"
#include "storage/rocks/rocks_status.h"
#include "storage/write_set_codec.h"

namespace commitd::storage {

std::string RocksEngine::prepare(const WriteSet& writes) {
  return own_log_ == nullptr ? std::string() : encode_write_set(writes);
}

Status RocksEngine::prepare_ordered(std::span<const PreparedTransaction> group) {
  if (own_log_ == nullptr) return {};
  COMMITD_RETURN_IF_ERROR(forget_those_that_had_to_wait());
  if (group.empty()) return {};
  rocksdb::WriteBatch batch;
  for (const PreparedTransaction& transaction : group)
    batch.Put(prepared_key(transaction.gtid), transaction.record);
  const rocksdb::Status status = db_->Write(write_options(), &batch);
  if (!status.ok()) return write_error(status);
  std::vector<Gtid> gtids;
  for (const PreparedTransaction& transaction : group) gtids.push_back(transaction.gtid);
  for (const Gtid& gtid : gtids) prepared_.add(gtid);
  Status flushed = flush_own_log();
  if (!flushed.ok()) forget_later(gtids);
  return flushed;
}

// RocksDB tells once that its log had no room; from then on its writer only says that it has failed before.
Status RocksEngine::flush_own_log() {
  COMMITD_RETURN_IF_ERROR(room());
  return own_log_->flush();
}

Status RocksEngine::commit() {
  return own_log_ == nullptr ? Status{} : flush_own_log();
}

Status RocksEngine::rollback(std::span<const Gtid> transactions) {
  if (own_log_ == nullptr || transactions.empty()) return {};
  Status forgotten = forget_prepared(transactions);
  if (forgotten.ok() || forgotten.error().code != er::kDiskFull) return forgotten;
  forget_later(transactions);
  return {};
}

void RocksEngine::forget_later(std::span<const Gtid> transactions) {
  to_be_forgotten_.insert(to_be_forgotten_.end(), transactions.begin(), transactions.end());
}

Status RocksEngine::forget_those_that_had_to_wait() {
  if (to_be_forgotten_.empty()) return {};
  COMMITD_RETURN_IF_ERROR(forget_prepared(to_be_forgotten_));
  to_be_forgotten_.clear();
  return {};
}

// Synced whatever the level: the number of a transaction that is forgotten may be given again.
Status RocksEngine::forget_prepared(std::span<const Gtid> transactions) {
  COMMITD_RETURN_IF_ERROR(room());
  for (const Gtid& gtid : transactions) COMMITD_RETURN_IF_ERROR(erase_indexes_named_by(gtid));
  rocksdb::WriteBatch batch;
  for (const Gtid& gtid : transactions) batch.Delete(prepared_key(gtid));
  const rocksdb::Status status = db_->Write(write_options(), &batch);
  if (!status.ok()) return write_error(status);
  for (const Gtid& gtid : transactions) prepared_.remove(gtid);
  return own_log_->sync();
}

Result<std::optional<WriteSet>> RocksEngine::prepared_writes(const Gtid& gtid) {
  std::optional<WriteSet> writes;
  if (own_log_ == nullptr || !prepared_.contains(gtid)) return writes;
  std::string record;
  const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), prepared_key(gtid), &record);
  if (!status.ok()) return read_error(status);
  auto decoded = decode_write_set(record);
  if (!decoded) return std::move(decoded).error();
  writes = std::move(*decoded);
  return writes;
}

Status RocksEngine::erase_indexes_named_by(const Gtid& prepared) {
  auto writes = prepared_writes(prepared);
  if (!writes) return std::move(writes).error();
  if (!*writes) return {};
  for (const uint32_t id : indexes_named_by(**writes)) COMMITD_RETURN_IF_ERROR(unnamed_.erase(id));
  return {};
}

}  // namespace commitd::storage

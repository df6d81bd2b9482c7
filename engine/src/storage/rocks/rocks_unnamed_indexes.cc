#include "storage/rocks/rocks_unnamed_indexes.h"

#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "base/packed_int.h"
#include "storage/engine.h"
#include "storage/record/key_codec.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

std::string index_prefix(uint32_t index_id) {
  std::string prefix;
  append_index_id(prefix, index_id);
  return prefix;
}

}  // namespace

std::string unnamed_index_key(uint32_t index_id) {
  std::string key = index_prefix(kUnnamedIndexId);
  append_big_endian(key, index_id, 4);
  return key;
}

std::vector<uint32_t> indexes_named_by(const WriteSet& writes) {
  const std::string prefix = index_prefix(kUnnamedIndexId);
  std::vector<uint32_t> ids;
  for (auto at = writes.entries().lower_bound(prefix);
       at != writes.entries().end() && at->first.starts_with(prefix); ++at)
    ids.push_back(static_cast<uint32_t>(load_be(at->first.data() + prefix.size(), 4)));
  return ids;
}

Status RocksUnnamedIndexes::write(rocksdb::WriteBatch& batch) {
  const rocksdb::Status written = db_->Write(options_(), &batch);
  return written.ok() ? Status{} : Status{write_error(written)};
}

Status RocksUnnamedIndexes::begin(uint32_t index_id) {
  rocksdb::WriteBatch batch;
  batch.Put(unnamed_index_key(index_id), rocksdb::Slice());
  return write(batch);
}

Status RocksUnnamedIndexes::fill(const WriteSet& entries) {
  rocksdb::WriteBatch batch;
  for (const auto& [key, entry] : entries.entries()) {
    COMMITD_CHECK(entry.value && entry.row_id == WriteSet::RowId::Final,
                  "an unnamed index takes final entries only");
    batch.Put(key, *entry.value);
  }
  return write(batch);
}

Status RocksUnnamedIndexes::erase(uint32_t index_id) {
  const std::string begin = index_prefix(index_id);
  rocksdb::WriteBatch batch;
  batch.DeleteRange(begin, prefix_end(begin));
  batch.Delete(unnamed_index_key(index_id));
  return write(batch);
}

Result<bool> RocksUnnamedIndexes::contains(uint32_t index_id) {
  std::string value;
  const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), unnamed_index_key(index_id), &value);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return read_error(status);
  return true;
}

Result<std::vector<uint32_t>> RocksUnnamedIndexes::all() {
  const std::string prefix = index_prefix(kUnnamedIndexId);
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(rocksdb::ReadOptions()));
  std::vector<uint32_t> ids;
  for (iterator->Seek(prefix); iterator->Valid() && iterator->key().starts_with(prefix); iterator->Next())
    ids.push_back(static_cast<uint32_t>(load_be(iterator->key().data() + prefix.size(), 4)));
  if (!iterator->status().ok()) return read_error(iterator->status());
  return ids;
}

}  // namespace commitd::storage

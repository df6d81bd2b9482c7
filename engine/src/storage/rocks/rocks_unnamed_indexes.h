// Unnamed indexes in RocksDB: written around the row cache, which has nothing of what nobody reads.
//
// Invariant: each begins with its entry under kUnnamedIndexId, so that no flush leaves anything of one that
// is not listed; the transaction that names it erases that entry in its own batch.
#pragma once

#include <functional>
#include <memory>

#include <rocksdb/db.h>

#include "storage/unnamed_indexes.h"

namespace commitd::storage {

class RocksUnnamedIndexes final : public UnnamedIndexes {
 public:
  RocksUnnamedIndexes(std::shared_ptr<rocksdb::DB> db, std::function<rocksdb::WriteOptions()> options)
      : db_(std::move(db)), options_(std::move(options)) {}

  Status begin(uint32_t index_id) override;
  Status fill(const WriteSet& entries) override;
  Status erase(uint32_t index_id) override;
  Result<bool> contains(uint32_t index_id) override;
  Result<std::vector<uint32_t>> all() override;

 private:
  Status write(rocksdb::WriteBatch& batch);

  std::shared_ptr<rocksdb::DB> db_;
  const std::function<rocksdb::WriteOptions()> options_;
};

}  // namespace commitd::storage

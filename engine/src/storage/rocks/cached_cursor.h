// An iterator that takes from the row cache what is there, and the rest from RocksDB.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <rocksdb/db.h>

#include "storage/engine.h"
#include "storage/rocks/rocks_cursor.h"
#include "storage/rocks/row_cache.h"

namespace commitd::storage {

// Keys of tables; the server's own are not cached.
bool is_table_key(std::string_view key);
std::string first_table_key();  // below all of them

// `lower` is_table_key(), `upper` not empty.
std::unique_ptr<Iterator> make_cached_iterator(std::shared_ptr<rocksdb::DB> db,
                                               std::shared_ptr<RowCache> cache, SnapshotPtr snapshot,
                                               std::string lower, std::string upper, ScanWatch watch);

}  // namespace commitd::storage

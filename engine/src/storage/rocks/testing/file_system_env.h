// RocksDB on our FileSystem interface, so that a test can record what RocksDB does to its files as well.
#pragma once

#include <memory>

#include <rocksdb/env.h>

#include "base/file.h"

namespace commitd::storage::testing {

// Threads and clock are the machine's. `files` must outlive the environment.
std::unique_ptr<rocksdb::Env> env_over(FileSystem& files);

}  // namespace commitd::storage::testing

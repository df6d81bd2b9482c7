// RocksDB on our FileSystem interface, so that a test can record what RocksDB does to its files as well.
#pragma once

#include <functional>
#include <memory>

#include <rocksdb/env.h>

#include "base/file.h"

namespace commitd::storage::testing {

// Threads and clock are the machine's. `files` must outlive the environment. `room_left`: in bytes; empty:
// there is always enough.
std::unique_ptr<rocksdb::Env> env_over(FileSystem& files, std::function<uint64_t()> room_left = {});

}  // namespace commitd::storage::testing

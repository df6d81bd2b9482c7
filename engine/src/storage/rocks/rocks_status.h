// RocksDB's errors as ours.
#pragma once

#include <rocksdb/status.h>

#include "base/error_codes.h"
#include "base/result.h"

namespace commitd::storage {

inline Error read_error(const rocksdb::Status& status) {
  return make_error(er::kErrorOnRead, "The storage engine cannot read its data: {}", status.ToString());
}

inline Error write_error(const rocksdb::Status& status) {
  if (status.IsNoSpace() && status.severity() < rocksdb::Status::kFatalError) {
    return make_error(
        er::kDiskFull,
        "Disk full in the storage engine's directory ({}). Free some space: until then nothing is written",
        status.ToString());
  }
  return make_error(er::kErrorOnWrite, "The storage engine cannot write its data: {}", status.ToString());
}

}  // namespace commitd::storage

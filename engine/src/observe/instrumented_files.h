// A file system whose calls are counted and timed as wait events.
#pragma once

#include "base/file.h"

namespace commitd::observe {

// For the binary log: wait/io/file/sql/binlog, and …/binlog_index for its index. Other files pass uncounted.
// `inner` must outlive it.
std::unique_ptr<FileSystem> instrumented_log_files(FileSystem& inner);

}  // namespace commitd::observe

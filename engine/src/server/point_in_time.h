// Point-in-time restore: a restored backup is brought forward with log files that were kept, up to a
// transaction or a time.
#pragma once

#include "base/file.h"
#include "commit/commit_pipeline.h"
#include "log/log.h"
#include "server/options.h"
#include "storage/engine.h"

namespace commitd::server {

// What --restore-until-gtid and --restore-until-time say can be read.
Status check_restore_options(const Options& options);

// Only on a data directory whose log has no transactions yet. Afterwards the log begins behind what was
// replayed. Cut off, it can be started again.
Status restore_to_point(FileSystem& fs, const Options& options, storage::Engine& engine,
                        binlog::EventApplier& applier, binlog::LogOptions log);

}  // namespace commitd::server

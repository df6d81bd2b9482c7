// Where the log was left: from there on transactions went into the engine without it (--skip-log-bin,
// binlog_error_action=IGNORE_ERROR). A note in a file of its own, "binlog.left".
//
// The note is durable before the first of them is in the engine, and the engine's position stays at that
// place until the log goes on. So a start knows what it has, whatever stands in the log behind the place:
//   the position is in front of it   the engine may lack what was logged, and has nothing that was not
//   the position is at it            the engine has all that was logged, and what came without the log
//   the position is behind it        the log had gone on when the crash came: the note is out of date
#pragma once

#include <optional>

#include "base/file.h"
#include "base/log_position.h"
#include "base/result.h"
#include "log/log.h"
#include "storage/engine.h"

namespace commitd::binlog {

// So that a log can be left on a full disk: makes the file, without a note in it.
Status reserve_note_of_leaving(FileSystem& fs, const LogOptions& options);
// Durable when it returns.
Status note_leaving(FileSystem& fs, const LogOptions& options, LogPosition at);
Status note_return(FileSystem& fs, const LogOptions& options);
// nullopt: the log was not left.
Result<std::optional<LogPosition>> place_of_leaving(FileSystem& fs, const LogOptions& options);

// For a start: tells `options` where the log was left, and what the engine at `point` knows without a log. A
// note that is out of date goes.
Status look_for_left_log(FileSystem& fs, LogOptions& options, const storage::CommitPoint& point);

}  // namespace commitd::binlog

// The commit point as it is stored beside the data: under one key, but for gtid_executed (executed_rows.h).
#pragma once

#include <string>
#include <string_view>

#include "storage/engine.h"

namespace commitd::storage {

std::string encode_place(const EnginePlace& place);
// Format 1 had all of gtid_executed behind it.
Result<CommitPoint> decode_commit_point(std::string_view bytes);

std::string encode_position(LogPosition position);
LogPosition decode_position(std::string_view bytes);  // {} when there are too few

std::string commit_point_key();
std::string incomplete_up_to_key();
std::string format_version_key();

}  // namespace commitd::storage

// A row of gtid_executed as it is stored, for the engine that writes it and for mysql.gtid_executed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gtid/gtid_set.h"
#include "storage/engine.h"

namespace commitd::storage {

std::string executed_rows_prefix();
std::string executed_row_key(const GtidInterval& row);
std::string executed_row_value(const GtidInterval& row);
Result<GtidInterval> decode_executed_row(std::string_view key, std::string_view value);

// All that are there, in order, as of one moment.
Status for_each_executed_row(Engine& engine, const std::function<void(const GtidInterval&)>& each);

}  // namespace commitd::storage

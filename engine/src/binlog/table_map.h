// The TABLE_MAP event: how a reader that has no catalog learns the types behind a rows event.
#pragma once

#include <string>

#include "binlog/event_writer.h"
#include "storage/record/table_def.h"

namespace commitd::binlog {

void append_table_map(std::string& out, EventOrigin origin, const TableDef& table);

}  // namespace commitd::binlog

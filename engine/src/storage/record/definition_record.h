// Where the catalog keeps a table's definition, and what of its record is the same in every format: enough to
// tell whether a snapshot holds the definition that somebody is about to read it by.
#pragma once

#include <string>
#include <string_view>

#include "storage/record/table_def.h"

namespace commitd {

std::string definition_key(uint64_t table_id);

// The beginning of a record: format, id, version.
void append_definition_head(std::string& record, uint8_t format, const TableDef& table);
bool is_definition_of(std::string_view record, const TableDef& table);

}  // namespace commitd

// information_schema.innodb_metrics, and commitd_history: garbage that has not been purged, by index.
#pragma once

#include <vector>

#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {

std::vector<VirtualTable> history_tables();

}  // namespace commitd::sql

// performance_schema: clone_status and clone_progress.
#pragma once

#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {

std::vector<VirtualTable> clone_tables();

}  // namespace commitd::sql

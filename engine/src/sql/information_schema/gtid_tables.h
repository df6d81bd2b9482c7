// mysql.gtid_executed: the rows in which the storage engine keeps it, as they are.
#pragma once

#include <vector>

#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {

std::vector<VirtualTable> gtid_tables();

}  // namespace commitd::sql

#include "sql/row_memory.h"

#include "base/error_codes.h"

namespace commitd::sql {

Error out_of_row_memory() {
  return Error{
      er::kOutOfSortMemory,
      "Out of sort memory: the rows that the statement keeps do not fit into what the server has left "
      "of its 'commitd_memory_budget'"};
}

}  // namespace commitd::sql

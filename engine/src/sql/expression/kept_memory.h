// What an aggregate keeps of its rows, out of the memory budget: error 1038 when there is no room.
#pragma once

#include "base/memory_budget.h"
#include "sql/expression/expression.h"
#include "sql/row_memory.h"

namespace commitd::sql {

class KeptMemory {
 public:
  // Also counts what a set, a list or a tree needs around one more.
  void keep(uint64_t bytes, Evaluation& evaluation) {
    constexpr uint64_t kAround = 128;
    if (!reserved_.add(bytes + kAround)) evaluation.fail(out_of_row_memory());
  }

 private:
  MemoryReservation reserved_{MemoryUse::Rows};
};

}  // namespace commitd::sql

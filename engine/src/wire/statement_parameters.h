// What a connection remembers of a prepared statement's parameters between packets, and the decoding of
// COM_STMT_EXECUTE.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "base/result.h"
#include "base/value.h"

namespace commitd::wire {

struct ParameterType {
  FieldType type = FieldType::Null;
  bool is_unsigned = false;
};

class StatementParameters {
 public:
  // COM_STMT_SEND_LONG_DATA has no reply: what is wrong with it is reported by the next execute.
  void add_long_data(uint16_t parameter, std::string_view piece, size_t max_size);
  void reset_long_data();
  // `packet`: behind the iteration count. Types are remembered for executions that do not repeat them.
  Result<std::vector<Value>> decode(std::string_view packet, size_t parameter_count);

 private:
  std::vector<ParameterType> types_;
  std::map<uint16_t, std::string> long_data_;
  bool long_data_too_large_ = false;
  MemoryReservation memory_{MemoryUse::Network};
};

}  // namespace commitd::wire

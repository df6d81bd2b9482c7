// AUTO_INCREMENT values and hidden row ids. The durable numbers are keys beside the data and move with the
// batches; the numbers in memory run ahead of them by what was reserved.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/result.h"

namespace commitd::storage {

std::string auto_increment_key(uint64_t table_id);
std::string row_id_key(uint64_t table_id);
std::string encode_counter(uint64_t value);

// The next value to give, per table.
class Counters {
 public:
  // `load` reads the durable number of a key; 1 when there is none.
  using Load = std::function<Result<uint64_t>(const std::string& key)>;
  explicit Counters(Load load) : load_(std::move(load)) {}

  Result<uint64_t> reserve_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least);
  Result<uint64_t> peek_auto_increment(uint64_t table_id);
  Status raise_auto_increment(uint64_t table_id, uint64_t next);
  void restart_auto_increment(uint64_t table_id, uint64_t next);

  // What the newest batch made of AUTO_INCREMENT; the committing thread only.
  Result<uint64_t> durable_auto_increment(uint64_t table_id);
  void set_durable_auto_increment(uint64_t table_id, uint64_t next);  // raises it
  void restart_durable_auto_increment(uint64_t table_id, uint64_t next);

  // Row ids are given by the committing thread only.
  Result<uint64_t> next_row_id(uint64_t table_id);
  void set_next_row_id(uint64_t table_id, uint64_t next);

 private:
  Result<uint64_t*> auto_increment(uint64_t table_id);

  Load load_;
  std::mutex mutex_;  // auto_increment_
  std::unordered_map<uint64_t, uint64_t> auto_increment_;
  std::unordered_map<uint64_t, uint64_t> durable_auto_increment_;
  std::unordered_map<uint64_t, uint64_t> row_ids_;
};

}  // namespace commitd::storage

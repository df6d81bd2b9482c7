// Indexes that are filled before any definition names them, so that a definition change over many rows needs
// little memory. Nobody reads them until the transaction that names them is committed; it erases
// unnamed_index_key() of each. What a statement that failed has left is still listed here, and its ids are
// not given to others; it is erased when the engine is opened, as is what a crash has left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/write_set.h"

namespace commitd::storage {

std::string unnamed_index_key(uint32_t index_id);
// Those that a transaction names.
std::vector<uint32_t> indexes_named_by(const WriteSet& writes);

class UnnamedIndexes {
 public:
  virtual ~UnnamedIndexes() = default;
  virtual Status begin(uint32_t index_id) = 0;
  // Entries of indexes that have begun; all have values and final keys.
  virtual Status fill(const WriteSet& entries) = 0;
  virtual Status erase(uint32_t index_id) = 0;
  virtual Result<bool> contains(uint32_t index_id) = 0;
  virtual Result<std::vector<uint32_t>> all() = 0;
};

}  // namespace commitd::storage
